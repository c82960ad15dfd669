package ratecontrol_test

import (
	"testing"

	"qinst.dev/ratecontrol"
)

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"main.f", "main.f", true}, {"main.f", "main.ff", false}, {"main.*", "main.f", true}, {"*.f", "main.f.f", true},
		{"main.(*T).m", "main.(*T).m", true},
		{"gopkg.in/yaml.v3.Unmarshal", "gopkg.in/yaml%2ev3.Unmarshal", true},
		{"gopkg.in/yaml%2ev3.Unmarshal", "gopkg.in/yaml%2ev3.Unmarshal", true},
		{"*yaml.v3.*", "gopkg.in/yaml%2ev3.Unmarshal", true},
		{"gopkg.in/yaml-v3.Unmarshal", "gopkg.in/yaml%2ev3.Unmarshal", false},
		{"a.", "a%2", false},
		{"nats.go.(*Conn).Flush", "github.com/nats-io/nats%2ego.(*Conn).Flush", true},
		{"nats-io/nats.go.*", "github.com/nats-io/nats%2ego.(*Conn).Flush", true},
		{"ats.go.(*Conn).Flush", "github.com/nats-io/nats%2ego.(*Conn).Flush", false},
		{"v5.Get", "example.com/x/v5.Get", true}, {"x.f", "a/x.ff", false},
	} {
		if got := ratecontrol.Matches(c.pattern, c.name); got != c.want {
			t.Errorf("%s matches %s: %t, expected %t", c.pattern, c.name, got, c.want)
		}
	}
}
