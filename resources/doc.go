// Package resources turns skill:// URIs into files and back, and digests the
// files of a skill into the manifest by which hosts verify what they read.
//
// What is served of a skill, and how it is read, is package contained's; the
// copies of skills that programs see are package staging's. One rule of what is
// served holds for reading, listing and manifests alike: what is not listed
// cannot be read, because SEP-2640 wants a manifest to hold every file of the
// skill exactly once.
//
// On a file system that ignores letter case (the default on macOS and
// Windows) a file is also found under other spellings of its name; these are
// not listed, and a host that verifies against the manifest refuses them.
package resources
