// Package resources turns skill:// URIs into files and back, reads those files
// so that nothing outside a skill's directory is ever opened, and writes files
// of workspaces in the same way.
//
// # Trust
//
// Neither the path that a caller gives nor the directory that it is looked up
// in is trusted. [Clean] refuses by rule what no honest path holds, before
// anything is opened. What is left is resolved by [os.Root], which stops every
// link that leads out, also one that is put there while a read is under way.
// The opened file is then asked what it is: only regular files are read, and
// by readers that are bounded whatever size the file claims to have.
//
// Bind mounts and, in a skill, hard links are not seen through: who can make
// these in a skill's directory can as well copy the content there.
// [OpenUntrusted] refuses hard links too, for directories that a sandboxed
// program has written to.
//
// # What is written
//
// Only trees of [OpenUntrusted] are written to, by [Tree.Write] and
// [Tree.Edit]. They go directory by directory through no link, check that each
// directory they opened is the one they saw, and put a whole new file in the
// place of the old one. A program that moves things about meanwhile can make
// them fail, or have them write elsewhere in the tree, but not outside it.
//
// # What is served
//
// Of a skill every regular file is served whose path keeps the rules of
// [Clean], save that its name need not be UTF-8, except the leavings of
// version control, package managers, operating systems and editors (.git,
// node_modules, __pycache__, .DS_Store, *~, .*.swp and their like). A link
// that stays inside is served as what it leads to, unless it leads to a
// directory that the path already went through. One rule holds for reading,
// listing and manifests alike: what is not listed cannot be read, because
// SEP-2640 wants a manifest to hold every file of the skill exactly once.
//
// On a file system that ignores letter case (the default on macOS and
// Windows) a file is also found under other spellings of its name; these are
// not listed, and a host that verifies against the manifest refuses them.
//
// # Bytes
//
// Content is never changed: a byte-order mark, CRLF and the like are given as
// they stand, so that a digest over what was read is that of the manifest.
package resources
