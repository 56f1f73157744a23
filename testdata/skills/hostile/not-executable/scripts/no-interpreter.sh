#!/no/such/interpreter
echo never
