echo 'ran without the executable bit'
