//go:build !unix

package artifact

const nonblock = 0
