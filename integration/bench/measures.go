package main

// measures are the rows of the table. Goals that are bounds hold for a machine of
// two cores that does nothing else; ratios hold anywhere.
func measures() []measure {
	return []measure{
		{"start to `initialize`, no skills", "ms", 15, goal{}, started(0)},
		{"start to `initialize`, 1,000 skills", "ms", 15, goal{bound: 40}, started(1000)},
		{"start to `initialize`, 10,000 skills", "ms", 7, goal{bound: 150}, started(10000)},
		{"save to notification, 100 skills", "ms", 9, goal{bound: 60}, saved(100)},
		{"save to notification, 1,000 skills", "ms", 9, goal{bound: 1.5, of: smallLibrary}, saved(1000)},
		{"save to notification, 10,000 skills", "ms", 9, goal{bound: 1.5, of: smallLibrary}, saved(10000)},
		{"`findSkills`, 10,000 skills", "ms", 60, goal{bound: 3}, found(10000)},
		{"`resources/read` over HTTP, 32 clients", "/s", 7, goal{bound: 0.6, of: bareHandler, atLeast: true}, served(1000)},
		{"memory after a whole listing, 1,000 skills", "MiB", 3, goal{bound: 24}, resident(1000)},
		{"memory after a whole listing, 10,000 skills", "MiB", 3, goal{bound: 60}, resident(10000)},
		{"processor time in a minute without a request, 3,000 skills", "ms", 3, goal{bound: 1}, idle(3000)},
		{"`exec` in `local`, after a pause", "ms", 21, goal{bound: 0.8, of: bubblewrap}, executed("local", paused)},
		{"`exec` in `local`, ten a second", "ms", 9, goal{bound: 0.8, of: bubblewrap}, executed("local", tenASecond)},
		{"`exec` in `local`, back to back", "ms", 31, goal{bound: 1.5, of: bubblewrap}, executed("local", backToBack)},
		{"`exec` in `docker`, after a pause", "ms", 7, goal{bound: 25}, executed("docker", paused)},
		{"`exec` in `docker`, a burst of five, each", "ms", 5, goal{bound: 25}, executed("docker", burst)},
		{"`exec` in `docker`, ten a second", "ms", 5, goal{bound: 0.5, of: dockerRun}, executed("docker", tenASecond)},
		{"`exec` in `docker`, back to back", "ms", 5, goal{bound: 0.5, of: dockerRun}, executed("docker", lasting)},
		{"start of a child of the same program", "ms", 31, goal{bound: 3}, child},
	}
}
