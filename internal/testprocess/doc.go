// Package testprocess tells tests of the processes of the machine. It imports
// nothing of ours.
package testprocess
