package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// side is one of the programs that are compared.
type side struct {
	text    string   // in words
	dir     string   // in which it is built, and
	program []string // the package, or the Go files
	name    string   // of the program; "": that of the package
	file    string   // the program itself, if it is not built, or
	kept    bool     // the result of earlier runs
}

// sides are what is compared.
type sides struct {
	base, head side
	root       string // of the repository, or the directory of head
	here       string // the working directory
}

// findSides finds both sides of a comparison. A base that begins with . or / is a directory, any
// other a revision, which is exported below tmp. Head is the directory dir as it is. The program is
// a package or Go files in both.
func findSides(ctx context.Context, base, dir, tmp string, program []string) (*sides, error) {
	chdir := dir
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	repo := git{ctx: ctx, dir: dir}
	s := &sides{base: side{program: program}, head: side{dir: chdir, program: program}, root: dir, here: here}
	s.head.text = "the files of " + dir
	top, inside := repo.line("rev-parse", "--show-toplevel")
	if inside == nil {
		s.root, s.head.text = top, repo.state()
	}
	if strings.HasPrefix(base, ".") || filepath.IsAbs(base) {
		s.base.text, s.base.dir = "the files of "+base, base
		if st, err := os.Stat(base); err != nil || !st.IsDir() {
			return nil, fmt.Errorf("found no directory %s, expected one, or a revision such as origin/main", base)
		}
		return s, nil
	}
	if inside != nil {
		return nil, fmt.Errorf("%w; expected a git repository that has %s, or a directory such as ./%[2]s to compare with",
			inside, base)
	}
	commit, err := repo.line("rev-parse", "--verify", "--short", "--end-of-options", base+"^{commit}")
	if err != nil {
		return nil, fmt.Errorf("found no revision %s (%w), expected one of this repository, which a shallow clone may lack, or a directory such as ./%[1]s", base, err)
	}
	prefix, err := repo.line("rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	tree := filepath.Join(tmp, "tree")
	s.base.text, s.base.dir = fmt.Sprintf("%s (%s)", base, commit), filepath.Join(tree, prefix)
	if err := repo.export(base, top, tree); err != nil {
		return nil, err
	}
	if _, err := os.Stat(s.base.dir); err != nil {
		return nil, fmt.Errorf("%s has no directory %s, expected the one that the program is built in", s.base.text, prefix)
	}
	return s, nil
}

// git runs git commands in a directory.
type git struct {
	ctx context.Context
	dir string
	env []string
}

// line is a command's output without its end of line.
func (g git) line(args ...string) (string, error) {
	cmd := exec.CommandContext(g.ctx, "git", args...)
	cmd.Dir, cmd.Env = g.dir, append(os.Environ(), g.env...)
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	if err := cmd.Run(); err != nil {
		if g.ctx.Err() != nil {
			return "", context.Cause(g.ctx)
		}
		if first, _, _ := strings.Cut(talk.String(), "\n"); first != "" {
			return "", errors.New("git: " + first)
		}
		return "", err
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// export writes the files of a revision to a directory. It leaves nothing in the repository, as a
// worktree of git's would if this process were killed.
func (g git) export(revision, top, to string) error {
	g.dir, g.env = top, []string{"GIT_INDEX_FILE=" + to + ".index"}
	if _, err := g.line("read-tree", "--end-of-options", revision); err != nil {
		return err
	}
	_, err := g.line("checkout-index", "--all", "--prefix="+to+string(filepath.Separator))
	return err
}

// state is the working tree in words.
func (g git) state() string {
	commit, err := g.line("rev-parse", "--short", "HEAD")
	if err != nil {
		return "the working tree"
	}
	changes, err := g.line("status", "--porcelain")
	switch {
	case err != nil:
		return "the working tree at " + commit
	case changes == "":
		return fmt.Sprintf("the working tree, which is that of %s", commit)
	}
	return fmt.Sprintf("the working tree: %s, changed files: %d", commit, 1+strings.Count(changes, "\n"))
}
