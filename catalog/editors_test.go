package catalog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog"
)

// TestWatchEditors saves and deploys as programs do that people use for it. In
// the end the catalog is what one is that is opened then.
func TestWatchEditors(t *testing.T) {
	t.Parallel()
	const name, other = "SKILL.md", "references/r.md"
	for program, save := range map[string]func(d desk){
		// vim moves the file aside, writes it again and removes the old one.
		"vim": func(d desk) {
			d.write(".SKILL.md.swp", "b0VIM 9.0")
			d.write("4913", "")
			d.remove("4913")
			d.rename(name, name+"~")
			d.write(name, d.text("a"))
			d.remove(name + "~")
			d.remove(".SKILL.md.swp")
		},
		// VS Code empties it and writes it.
		"code": func(d desk) {
			check(d.t, os.Truncate(d.at(name), 0))
			d.write(name, d.text("a"))
		},
		// IDEs of JetBrains write beside it, and put that and a backup in place.
		"jetbrains": func(d desk) {
			d.write(name+"___jb_tmp___", d.text("a"))
			d.rename(name, name+"___jb_old___")
			d.rename(name+"___jb_tmp___", name)
			d.remove(name + "___jb_old___")
		},
		"sed -i": func(d desk) {
			d.write("sedAbCdEf", d.text("a"))
			d.rename("sedAbCdEf", name)
		},
		"emacs": func(d desk) {
			check(d.t, os.Symlink("someone@somewhere.1:1", d.at(".#SKILL.md")))
			d.write("#SKILL.md#", "x")
			d.rename(name, name+"~")
			d.write(name, d.text("a"))
			d.remove("#SKILL.md#")
			d.remove(".#SKILL.md")
		},
		"rsync -a": func(d desk) {
			for _, file := range []string{name, other} {
				aside := filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+".Xy1234")
				d.write(aside, d.text("a"))
				check(d.t, os.Chmod(d.at(aside), 0o644))
				check(d.t, os.Chtimes(d.at(aside), time.Now(), time.Now().Add(-time.Hour)))
				d.rename(aside, file)
			}
			for _, dir := range []string{"references", ".", ".."} {
				check(d.t, os.Chtimes(d.at(dir), time.Now(), time.Now().Add(-time.Hour)))
			}
		},
		// git removes a file and makes it again, and directories with all in them.
		"git checkout": func(d desk) {
			for i := range 500 {
				skill := fmt.Sprintf("../skill-%03d", i)
				check(d.t, os.Mkdir(d.at(skill), 0o755))
				d.write(skill+"/SKILL.md", d.text(filepath.Base(skill)))
			}
			d.watched("skill-499")
			for i := range 500 {
				skill := fmt.Sprintf("../skill-%03d", i)
				d.remove(skill + "/SKILL.md")
				if i%5 == 0 {
					d.remove(skill)
				} else {
					d.write(skill+"/SKILL.md", d.text(filepath.Base(skill)))
				}
			}
			d.write(name, d.text("a"))
		},
		"a root made again": func(d desk) {
			check(d.t, os.RemoveAll(d.at("..")))
			d.watched("ready", "")
			check(d.t, os.MkdirAll(d.at("references"), 0o755))
			d.write(name, d.text("a"))
		},
		"a directory above moved": func(d desk) {
			check(d.t, os.Rename(d.at("../../.."), d.at("../../..")+".old"))
			d.watched("ready", "")
			check(d.t, os.MkdirAll(d.at("references"), 0o755))
			d.write(name, d.text("a"))
		},
		"a link pointed elsewhere": func(d desk) {
			for i := range 2 {
				release := fmt.Sprint("../../releases/", i, "/linked")
				check(d.t, os.MkdirAll(d.at(release), 0o755))
				d.write(release+"/SKILL.md", skillText("linked", fmt.Sprint("release ", i)))
				check(d.t, os.Symlink(fmt.Sprint(i), d.at("../../releases/new")))
				d.rename("../../releases/new", "../../releases/current")
				if i == 0 {
					check(d.t, os.Symlink("../releases/current/linked", d.at("../linked")))
				}
				d.watched("linked", fmt.Sprint("release ", i))
			}
			d.write("../../releases/1/linked/SKILL.md", skillText("linked", "edited there"))
			d.watched("linked", "edited there")
			d.write(name, d.text("a"))
		},
		"archives replaced": func(d desk) {
			for _, version := range []string{"one", "two"} {
				d.write("../../elsewhere.skill", pack(d.t, member{name: "SKILL.md", text: skillText("elsewhere", version)}))
				d.write("../x.skill", pack(d.t, member{name: "SKILL.md", text: skillText("x", version)}))
				if version == "one" {
					check(d.t, os.Symlink("../elsewhere.skill", d.at("../elsewhere.skill")))
				}
				d.watched("elsewhere", version)
				d.watched("x", version)
			}
			d.write(name, d.text("a"))
		},
	} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			root := filepath.Join(plant(t, nil), "above", "it", "skills")
			write(t, filepath.Join(root, "a", name), skillText("a", "one"))
			write(t, filepath.Join(root, "a", other), "one")
			f := follow(t, roots(root))
			f.watching(root)
			d := desk{t, f, filepath.Join(root, "a")}
			save(d)
			f.described("a", d.description())
			f.everywhere(root)
			fresh := openDirs(t, root).Snapshot()
			f.agreed(fresh)
		})
	}
}

// agreed waits until the catalog is what a snapshot is.
func (f *follower) agreed(fresh *catalog.Snapshot) {
	f.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); difference(fresh, f.catalog.Snapshot()) != ""; {
		select {
		case <-f.changes:
		case <-time.After(time.Until(deadline)):
			f.t.Fatalf("not what it is when opened again (-want +got):\n%s", difference(fresh, f.catalog.Snapshot()))
		}
	}
}

// desk is where a program edits a skill.
type desk struct {
	t   *testing.T
	f   *follower
	dir string
}

func (d desk) at(name string) string { return filepath.Join(d.dir, name) }

func (d desk) description() string { return "saved by " + filepath.Base(d.t.Name()) }

func (d desk) text(name string) string { return skillText(name, d.description()) }

// write writes a file again that is there.
func (d desk) write(name, text string) { check(d.t, os.WriteFile(d.at(name), []byte(text), 0o644)) }

func (d desk) remove(name string) { check(d.t, os.Remove(d.at(name))) }

func (d desk) rename(from, to string) { check(d.t, os.Rename(d.at(from), d.at(to))) }

// watched waits until a skill has a description, or that of the desk.
func (d desk) watched(name string, description ...string) {
	d.t.Helper()
	want := append(description, d.description())[0]
	if skill, ok := d.f.catalog.Snapshot().Lookup(name); ok && skill.Description == want {
		return // it was told of with another
	}
	d.f.described(name, want)
}
