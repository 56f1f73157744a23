// Package contained reads the files of a directory so that nothing outside it
// is ever opened, and writes files in the same way. It is used for skills and
// for workspaces.
//
// # Trust
//
// Neither the path that a caller has nor the directory that it is looked up
// in is trusted. [Clean] refuses by rule what no honest path holds, before
// anything is opened. What is left is resolved by [os.Root], which stops every
// link that leads out, also one that is put there while a read is under way.
// The opened file is then asked what it is: only regular files are read, and
// by readers that are bounded whatever size the file claims to have.
//
// Bind mounts and, in a skill, hard links are not seen through: who can make
// these in a skill's directory can as well copy the content there.
// [Options.Untrusted] refuses hard links too, for directories that a sandboxed
// program has written to.
//
// # What is written
//
// Only untrusted directories are written to, by [Dir.Write] and [Dir.Edit].
// They go directory by directory through no link, check that each directory
// they opened is the one they saw, and put a whole new file in the place of the
// old one. A program that moves things about meanwhile can make them fail, or
// have them write elsewhere in the directory, but not outside it.
//
// # What is served
//
// Every regular file is served whose path keeps the rules of [Clean], save that
// its name need not be UTF-8, except the ignored files of version control,
// package managers, operating systems and editors (.git, node_modules,
// __pycache__, .DS_Store, *~, .*.swp and their like). A link that stays inside
// is served as what it leads to, unless it leads to a directory that the path
// already went through.
//
// # Bytes
//
// Content is never changed: a byte-order mark, CRLF and the like are returned
// as they stand, so that a digest over what was read is that of the manifest.
package contained
