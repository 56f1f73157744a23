// Package editdistance says how near a name is to another one, which may have
// been meant.
package editdistance

// maxCompared is how many bytes of a name are compared.
const maxCompared = 256

// Between returns how many bytes have to be added, removed or changed to make one
// name of the other (Levenshtein's distance). Only the first 256 bytes of each
// count.
func Between(a, b string) int {
	a, b = a[:min(len(a), maxCompared)], b[:min(len(b), maxCompared)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
