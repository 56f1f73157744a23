//go:build !unix

package contained

// openFlags are none where files are the only things that can be opened.
const openFlags = 0

// openDirectory is not asked for: reading the names of a file fails.
const openDirectory = 0
