// Package cases compares first screens with truths: of programs with one bottleneck each, from
// public reports and of kinds of our own, and of healthy ones. Each has a repaired form, whose gain
// is measured and compared with the one that the screen promises.
package cases

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"qinst.dev/internal/analysis/advice"
	"qinst.dev/internal/lab"
	"qinst.dev/internal/stats"
	"qinst.dev/internal/trials/bench"
)

// Program is one of testdata/cases.
type Program struct {
	Pkg, Kind string   // the kind is an argument
	IDs       []string // of the conclusions that state the truth; none: it is healthy
	Subject   string   // a part of the name of what they are about, or one of several
	Remark    bool     // it is said in a remark
	Others    bool     // its run does not become shorter when it is repaired
}

// Name is how tables name it.
func (o *Program) Name() string { return strings.TrimSpace(o.Pkg + " " + o.Kind) }

var lock = []string{"contended-lock", "saturated-lock", "pending-writer"}

var busy = []string{"all-busy", "less-work"}

// Programs are all of them.
var Programs = []Program{
	{Pkg: "pendingwriter", IDs: []string{"pending-writer"}, Subject: "store).mu"},
	{Pkg: "contendedyetfree", IDs: []string{"contended-lock-gains-nothing", "saturated-lock-gains-nothing"},
		Subject: "table).mu", Remark: true, Others: true},
	{Pkg: "poolnested", IDs: []string{"deadline"}, Subject: "main.size"},
	{Pkg: "sharedrand", IDs: append(lock, "spinning-lock"), Subject: "source).mu"},
	{Pkg: "broadcastherd", IDs: []string{"wake-ups-in-vain"}, Subject: "window).more", Others: true},
	{Pkg: "pollsleep", IDs: []string{"timer"}, Subject: "slot).get"},
	{Pkg: "leakaftertimeout", IDs: []string{"goroutine-leak"}, Subject: "main.listen", Others: true},
	{Pkg: "serialinit", IDs: []string{"timer"}, Subject: "provider.open"},
	{Pkg: "falsesharing", IDs: []string{"contended-atomic"}, Subject: "main.count"},
	{Pkg: "starvedselect", IDs: []string{"one-receiver"}, Subject: "loop).run", Others: true},
	{Pkg: "goroutineperitem", IDs: []string{"tiny-goroutines"}, Subject: "main.each"},
	{Pkg: "forgottenunlock", IDs: []string{"never-unlocked"}, Subject: "cache).mu", Others: true},
	{"kinds", "sleepinlock", append(lock, "timer"), "account)", false, false},
	{"kinds", "serialproducer", []string{"one-goroutine", "one-processor"}, "main.", false, false},
	{"kinds", "onepermit", []string{"semaphore"}, "permits", false, false},
	{"kinds", "lastisfirst", []string{"unequal-work"}, "main.", false, false},
	{"kinds", "slowonce", lock, "main.once", false, false},
	{"kinds", "lockchain", append(lock, "timer"), "books)", false, false},
	{"kinds", "requests", []string{"timer", "input-output"}, "main.requests", false, false},
	{"kinds", "ticks", []string{"pace"}, "main.ticks", true, false},
	{"kinds", "spinflag", []string{"spinning"}, "gate).wait", false, false},
	{"kinds", "collector", []string{"one-receiver", "one-goroutine", "one-processor"}, "main.", false, false},
	{"kinds", "garbage", []string{"garbage-collector"}, "main.grow", false, false},
	{"kinds", "bigcritical", lock, "cache).mu", false, false},
	{"kinds", "latestart", []string{"one-goroutine", "one-processor", "serial-procedure"}, "main.", false, false},
	{"kinds", "oneproc", []string{"few-processors"}, "", false, false},
	{Pkg: "assets", IDs: []string{"garbage-collector"}, Subject: "encoders).compress"},
	{Pkg: "auditor", IDs: append(lock, "timer"), Subject: "branch).mu|vault).read"},
	{Pkg: "camera", IDs: []string{"locked-threads"}, Subject: "stage).run"},
	{Pkg: "chathub", IDs: append(lock, "timer"), Subject: "room).mu|hub).mu|volume).store"},
	{Pkg: "columns", IDs: []string{"timer"}, Subject: "volume).read"},
	{Pkg: "crawler", IDs: []string{"semaphore"}, Subject: "crawler).slots"},
	{Pkg: "dispatcher", IDs: []string{"starved-case", "one-processor"}, Subject: "dispatcher).state|dashboard).follow|dispatcher).loop"},
	{Pkg: "drain", IDs: []string{"deadline"}, Subject: "tracker).wait"},
	{Pkg: "ensemble", IDs: []string{"batches"}, Subject: "ensemble).parallel.wg"},
	{Pkg: "exprserver", IDs: []string{"stack-growth"}, Subject: "main.eval"},
	{Pkg: "feedreader", IDs: []string{"new-connections"}, Subject: "reader).poll"},
	{Pkg: "gateway", IDs: []string{"deadline", "timer"}, Subject: "replica).call"},
	{Pkg: "geoindex", IDs: []string{"pending-writer"}, Subject: "index).mu"},
	{Pkg: "glyphs", IDs: []string{"forced-collections"}, Subject: "library).acquire"},
	{Pkg: "importer", IDs: []string{"one-processor"}, Subject: "registry).add"},
	{Pkg: "ingest", IDs: []string{"timer"}, Subject: "directory).owner"},
	{Pkg: "invoices", IDs: []string{"library-pool"}, Subject: "main.(*billing)"},
	{Pkg: "jobboard", IDs: []string{"wake-ups-in-vain"}, Subject: "board).filled", Others: true},
	{Pkg: "lexer", IDs: []string{"many-handovers"}, Subject: "scanner).out"},
	{Pkg: "logship", IDs: lock, Subject: "shipper).mu"},
	{Pkg: "metricsbatch", IDs: []string{"timer"}, Subject: "writer).run"},
	{Pkg: "montecarlo", IDs: append(lock, "spinning-lock", "many-operations"), Subject: "sampler).mu"},
	{Pkg: "orders", IDs: []string{"new-connections"}, Subject: "cluster).Connect"},
	{Pkg: "presence", IDs: []string{"goroutine-leak"}, Subject: "session).heartbeat"},
	{Pkg: "resolver", IDs: append(lock, "one-processor"), Subject: "main.(*geoTable)"},
	{Pkg: "routetable", IDs: []string{"garbage-collector"}, Subject: "table).record"},
	{Pkg: "searchidx", IDs: []string{"garbage-collector"}, Subject: "index).search"},
	{Pkg: "sessionstore", IDs: lock, Subject: "shard).mu"},
	{Pkg: "similarity", IDs: []string{"unequal-work"}, Subject: "matcher).run"},
	{Pkg: "tenants", IDs: []string{"barrier", "library-wait", "timer"}, Subject: "call).done"},
	{Pkg: "tilecache", IDs: busy, Subject: "main.renderTile", Remark: true},
	{Pkg: "timeline", IDs: []string{"system-calls", "prepared-again"}, Subject: "calendar).location"},
	{Pkg: "transcoder", IDs: []string{"semaphore"}, Subject: "main.semaphore.acquire"},
	{Pkg: "wal", IDs: append(lock, "timer"), Subject: "wal).mu|wal).Append|disk).sync"},
	{Pkg: "wordfreq", IDs: []string{"one-receiver", "many-handovers", "many-operations"}, Subject: "counter).found"},
	{Pkg: "batchnight", IDs: []string{"unequal-work"}, Subject: "main.main.func1"},
	{Pkg: "catalogsync", IDs: []string{"timer"}, Subject: "pricer).|database)."},
	{Pkg: "courier", IDs: []string{"pace", "pace-in-part"}, Subject: "bucket).fill", Remark: true},
	{Pkg: "dirsize", IDs: []string{"timer", "semaphore"}, Subject: "crew).await|crew).queue"},
	{Pkg: "flagserver", IDs: []string{"system-calls"}, Subject: "settings).reload"},
	{Pkg: "fleetdispatch", IDs: []string{"small-buffer"}, Subject: "device).inbox"},
	{Pkg: "floorplan", IDs: []string{"one-processor", "one-receiver"}, Subject: "registrar).loop|registrar).ops"},
	{Pkg: "genome", IDs: []string{"few-processors"}, Subject: ""},
	{Pkg: "latencylog", IDs: lock, Subject: "recorder).mu"},
	{Pkg: "mailqueue", IDs: []string{"timer"}, Subject: "backoff).pause"},
	{Pkg: "meterlink", IDs: []string{"delayed-acknowledgments"}, Subject: "concentrator).handle|meter).post"},
	{Pkg: "orderbook", IDs: []string{"stops-the-world"}, Subject: "gate).usage"},
	{Pkg: "quorumkv", IDs: []string{"timer", "barrier"}, Subject: "cluster).put"},
	{Pkg: "routefinder", IDs: busy, Subject: "solver).solve", Remark: true},
	{Pkg: "spelling", IDs: []string{"input-output"}, Subject: "folder).pipe|folder).each"},
	{Pkg: "subtitles", IDs: []string{"small-buffer"}, Subject: "segment).done"},
	{Pkg: "telemetry", IDs: busy, Subject: "uplink).send|downlink).receive", Remark: true},
	{Pkg: "terrain", IDs: busy, Subject: "rain).flow", Remark: true},
	{Pkg: "tiler", IDs: []string{"forced-collections"}, Subject: "press)."},
	{Pkg: "tlsping", IDs: []string{"new-connections"}, Subject: "publisher).publish"},
	{Pkg: "weatherboard", IDs: busy, Subject: "model).run", Remark: true},
	{Pkg: "wordbreak", IDs: busy, Subject: "lexicon).find", Remark: true},
	{Pkg: "auction", IDs: []string{"contended-lock-gains-nothing", "saturated-lock-gains-nothing"},
		Subject: "gallery).mu", Remark: true, Others: true},
	{Pkg: "crawlpages", IDs: []string{"timer"}, Subject: "registry).fetch", Others: true},
	{Pkg: "nightly", IDs: []string{"contended-lock-gains-nothing", "saturated-lock-gains-nothing"},
		Subject: "catalog).mu", Remark: true, Others: true},
	{Pkg: "partnerapi", IDs: []string{"contended-lock-gains-nothing", "saturated-lock-gains-nothing"},
		Subject: "journal).mu", Remark: true, Others: true},
	{Pkg: "ledgerbook", IDs: busy, Subject: "bank).verify", Remark: true, Others: true},
	{Pkg: "encodefarm", IDs: busy, Subject: "encoder).encode", Remark: true, Others: true},
	{Pkg: "archiver", IDs: []string{"wake-ups-in-vain"}, Subject: "position).changed"},
	{Pkg: "cadbridge", IDs: []string{"locked-threads"}, Subject: "kernel).loop"},
	{Pkg: "partsync", IDs: []string{"new-connections"}, Subject: "syncer).lookup"},
	{Pkg: "clickrollup", IDs: []string{"unequal-work"}, Subject: "partition).run"},
	{Pkg: "framepool", IDs: busy, Subject: "scratchPool).put", Remark: true},
	{Pkg: "importjob", IDs: []string{"semaphore"}, Subject: "limiter."},
	{Pkg: "invoicer", IDs: busy, Subject: "context.(*valueCtx).Value", Remark: true},
	{Pkg: "leasekeeper", IDs: busy, Subject: "keeper).expire", Remark: true},
	{Pkg: "mailrelay", IDs: []string{"timer"}, Subject: "backoff).pause"},
	{Pkg: "ordergateway", IDs: busy, Subject: "order).dump", Remark: true},
	{Pkg: "policyeval", IDs: []string{"stack-growth"}, Subject: "main.evaluate"},
	{Pkg: "positionbook", IDs: busy, Subject: "book).revalue", Remark: true},
	{Pkg: "heartbeats", IDs: []string{"goroutine-leak"}, Subject: "session).heartbeat"},
	{Pkg: "replicalog", IDs: []string{"timer"}, Subject: "cluster).commit"},
	{Pkg: "routeexport", IDs: append(lock, "timer"), Subject: "table).mu"},
	{Pkg: "scorer", IDs: []string{"timer"}, Subject: "batcher).fill"},
	{Pkg: "sessionpages", IDs: []string{"garbage-collector"}, Subject: "memory limit"},
	{Pkg: "telemetryhub", IDs: busy, Subject: "hub).collect", Remark: true},
	{Pkg: "tilerender", IDs: busy, Subject: "main.renderTile", Remark: true},
	{Pkg: "segments", IDs: []string{"timer"}, Subject: "turnstile)."},
	{Pkg: "usagebilling", IDs: []string{"system-calls", "input-output", "prepared-again"}, Subject: "systemZones"},
	{Pkg: "wireclient", IDs: []string{"delayed-acknowledgments"}, Subject: "main.serve|client).send"},
	{Pkg: "labelspool", IDs: []string{"contended-lock-gains-nothing", "saturated-lock-gains-nothing"},
		Subject: "lane).mu", Remark: true, Others: true},
	{Pkg: "nightlyplan", IDs: []string{"contended-lock-gains-nothing", "saturated-lock-gains-nothing"},
		Subject: "board).mu", Remark: true, Others: true},
	{Pkg: "chaintimestamp", IDs: []string{"one-processor"}, Subject: "notary).run", Others: true},
	{Pkg: "deltapack"}, {Pkg: "fractalfarm"}, {Pkg: "gatecontroller"}, {Pkg: "playout"}, {Pkg: "quotapull"},
	{Pkg: "contactsheet"}, {Pkg: "packer"}, {Pkg: "queens"}, {Pkg: "ratecache"}, {Pkg: "raytrace"}, {Pkg: "restapi"},
	{Pkg: "textindex"}, {Pkg: "tilemult"}, {Pkg: "feedwatch"}, {Pkg: "kmercount"}, {Pkg: "loginburst"},
	{Pkg: "optionbook"},
	{Pkg: "kinds", Kind: "healthypool"},
	{Pkg: "kinds", Kind: "healthypipe"},
	{Pkg: "kinds", Kind: "healthyshards"},
}

// trial is its state.
type trial struct {
	*bench.Env
	rounds                 int
	table                  bench.Table
	right, quiet, inside   int
	bad, healthy, promised int
}

// Run is the trial.
func Run(e *bench.Env, args []string) error {
	fs := e.ToolFlags("[PROGRAM ...]")
	t := &trial{Env: e}
	fs.IntVar(&t.rounds, "rounds", 3, "how often each is run")
	if err := e.Parse(fs, args); err != nil {
		return err
	}
	if err := e.LeaveWorkspace(); err != nil {
		return err
	}
	chosen, err := bench.Choose(Programs, func(o Program) string { return o.Name() }, fs.Args())
	if err != nil {
		return err
	}
	t.table.Columns = []string{"program", "place", "first conclusion", "promised", "measured", "inside"}
	for i := range chosen {
		if err := t.program(&chosen[i]); err != nil {
			return fmt.Errorf("%s: %w", chosen[i].Name(), err)
		}
	}
	t.table.Add([]string{"all", fmt.Sprintf("%d of %d first or second", t.right, t.bad),
		fmt.Sprintf("%d of %d healthy ones have none", t.quiet, t.healthy), "", "",
		fmt.Sprintf("%d of %d", t.inside, t.promised)})
	t.table.Print()
	return e.Keep(t.table)
}

var ran = regexp.MustCompile(`truth run ([0-9.a-zµ]+)`)

// Ran reads from the output of a program how long its work took.
func Ran(output []byte) (time.Duration, error) {
	m := ran.FindSubmatch(output)
	if m == nil {
		return 0, fmt.Errorf("found no time in %q", output)
	}
	return time.ParseDuration(string(m[1]))
}

// program tries one.
func (t *trial) program(o *Program) error {
	plain, probed, err := t.Both("cases-"+o.Pkg, "testdata/cases", "./"+o.Pkg)
	if err != nil {
		return err
	}
	var args []string
	if o.Kind != "" {
		args = []string{o.Kind}
	}
	items, wall, err := t.conclusions(o, probed, args)
	if err != nil {
		return err
	}
	times := map[string][]float64{}
	if len(o.IDs) > 0 && !o.Others {
		cases := []lab.Case{{Name: "plain", Job: lab.Job{Program: plain, Plain: true, Args: args, Collect: true}},
			{Name: "fixed", Job: lab.Job{Program: plain, Plain: true, Args: append([]string{"-fix"}, args...), Collect: true}}}
		err := t.Turns(t.rounds, cases, func(r lab.Result) error {
			d, err := Ran(r.Stdout)
			times[r.Case] = append(times[r.Case], float64(d))
			return err
		})
		if err != nil {
			return err
		}
	}
	t.score(o, items, wall, times)
	return nil
}

// conclusions are those of the first screen of a run, however that ends.
func (t *trial) conclusions(o *Program, probed string, args []string) ([]advice.Item, int64, error) {
	file := filepath.Join(t.Scratch, strings.ReplaceAll(o.Name(), " ", "-")+".sddf")
	cmd := exec.CommandContext(t.Ctx, probed, args...)
	cmd.Env = append(os.Environ(), "QINST=out="+file)
	if _, err := bench.Watch(cmd); err != nil {
		return nil, 0, err
	}
	var page struct {
		Wall   int64 `json:"wall_ns"`
		Advice []advice.Item
	}
	err := t.Ask(&page, "report", "-json", file)
	return page.Advice, page.Wall, err
}

// score adds a row.
func (t *trial) score(o *Program, items []advice.Item, wall int64, times map[string][]float64) {
	found := slices.DeleteFunc(slices.Clone(items), func(it advice.Item) bool { return it.Remark != o.Remark })
	first := "none"
	if i := slices.IndexFunc(items, func(it advice.Item) bool { return !it.Remark }); i >= 0 {
		first = items[i].ID + " " + items[i].Subject.Name
	}
	row := []string{o.Name(), "", first, "", "", ""}
	if len(o.IDs) == 0 {
		if t.healthy++; first == "none" {
			t.quiet++
			row[1] = "right"
		}
		t.table.Add(row)
		return
	}
	t.bad++
	place := slices.IndexFunc(found, func(it advice.Item) bool {
		return slices.Contains(o.IDs, it.ID) && slices.ContainsFunc(strings.Split(o.Subject, "|"),
			func(part string) bool {
				return strings.Contains(it.Subject.Name, part) || strings.Contains(it.Text, part)
			})
	})
	row[1] = "missed"
	if place >= 0 {
		row[1] = fmt.Sprint(place + 1)
		if place < 2 {
			t.right++
		}
		if len(times) > 0 && found[place].Gain != nil {
			t.compare(row, found[place].Gain, wall, times)
		}
	}
	t.table.Add(row)
}

// compare compares a promised gain with the one of the repaired form.
func (t *trial) compare(row []string, g *advice.Gain, wall int64, times map[string][]float64) {
	gained := 100 * (1 - stats.Median(times["fixed"])/stats.Median(times["plain"]))
	of := func(ns int64) float64 { return 100 * float64(ns) / float64(max(wall, 1)) }
	const near = 3 // points
	t.promised++
	row[3] = fmt.Sprintf("%.0f %% (%.0f to %.0f)", of(g.Ns), of(g.Low), of(g.High))
	row[4], row[5] = fmt.Sprintf("%.0f %%", gained), "no"
	if of(g.Low)-near <= gained && gained <= of(g.High)+near {
		row[5] = "yes"
		t.inside++
	}
}
