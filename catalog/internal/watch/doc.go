// Package watch finds out what changed in directories. A [Watcher] knows from
// the operating system's events which paths may have; [Files] know from their
// contents which of them have.
//
// Events are hints alone: they may be late, of another name, or lost. Whoever
// writes to the directories is not trusted to leave them alone meanwhile.
package watch
