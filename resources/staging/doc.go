// Package staging copies skills, so that what a run sees is one version that
// can be checked before, and that stays the same until the run has ended.
//
// The skill's directory is not trusted: it is read by package contained, and a
// copy is taken only where nothing changed meanwhile. Nor is a copy trusted for
// longer than a run, since a program that nothing isolates may write to it: it
// is looked at again before it is used again.
package staging
