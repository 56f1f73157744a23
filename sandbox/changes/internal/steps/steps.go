// Package steps changes files of the user one by one, each as a whole or not at
// all, by a journal from which a step that was interrupted can be finished or
// taken back. It is for Linux.
package steps
