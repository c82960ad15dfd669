// Package cases compares first screens with truths: of programs with one bottleneck each, from
// public reports and of kinds of our own, and of healthy ones. Each has a repaired form, whose gain
// is measured beside the one that the screen promises.
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

// one is a program.
type one struct {
	pkg, kind string   // of testdata/cases; the kind is an argument
	ids       []string // of the conclusions that say what is so; none: it is healthy
	subject   string   // a part of the name of what they are about, or one of several
	remark    bool     // it is said in a remark
	others    bool     // its run does not become shorter when it is repaired
}

func (o *one) name() string { return strings.TrimSpace(o.pkg + " " + o.kind) }

var lock = []string{"contended-lock", "saturated-lock", "pending-writer"}

var busy = []string{"all-busy", "less-work"}

var list = []one{
	{pkg: "pendingwriter", ids: []string{"pending-writer"}, subject: "store).mu"},
	{pkg: "contendedyetfree", ids: []string{"contended-lock-gains-nothing", "saturated-lock-gains-nothing"},
		subject: "table).mu", remark: true, others: true},
	{pkg: "poolnested", ids: []string{"deadline"}, subject: "main.size"},
	{pkg: "sharedrand", ids: append(lock, "spinning-lock"), subject: "source).mu"},
	{pkg: "broadcastherd", ids: []string{"wake-ups-in-vain"}, subject: "window).more", others: true},
	{pkg: "pollsleep", ids: []string{"timer"}, subject: "slot).get"},
	{pkg: "leakaftertimeout", ids: []string{"goroutine-leak"}, subject: "main.listen", others: true},
	{pkg: "serialinit", ids: []string{"timer"}, subject: "provider.open"},
	{pkg: "falsesharing", ids: []string{"contended-atomic"}, subject: "main.count"},
	{pkg: "starvedselect", ids: []string{"one-receiver"}, subject: "loop).run", others: true},
	{pkg: "goroutineperitem", ids: []string{"tiny-goroutines"}, subject: "main.each"},
	{pkg: "forgottenunlock", ids: []string{"never-unlocked"}, subject: "cache).mu", others: true},
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
	{pkg: "assets", ids: []string{"garbage-collector"}, subject: "encoders).compress"},
	{pkg: "auditor", ids: append(lock, "timer"), subject: "branch).mu|vault).read"},
	{pkg: "camera", ids: []string{"locked-threads"}, subject: "stage).run"},
	{pkg: "chathub", ids: append(lock, "timer"), subject: "room).mu|hub).mu|volume).store"},
	{pkg: "columns", ids: []string{"timer"}, subject: "volume).read"},
	{pkg: "crawler", ids: []string{"semaphore"}, subject: "crawler).slots"},
	{pkg: "dispatcher", ids: []string{"starved-case", "one-processor"}, subject: "dispatcher).state|dashboard).follow|dispatcher).loop"},
	{pkg: "drain", ids: []string{"deadline"}, subject: "tracker).wait"},
	{pkg: "ensemble", ids: []string{"batches"}, subject: "ensemble).parallel.wg"},
	{pkg: "exprserver", ids: []string{"stack-growth"}, subject: "main.eval"},
	{pkg: "feedreader", ids: []string{"new-connections"}, subject: "reader).poll"},
	{pkg: "gateway", ids: []string{"deadline", "timer"}, subject: "replica).call"},
	{pkg: "geoindex", ids: []string{"pending-writer"}, subject: "index).mu"},
	{pkg: "glyphs", ids: []string{"forced-collections"}, subject: "library).acquire"},
	{pkg: "importer", ids: []string{"one-processor"}, subject: "registry).add"},
	{pkg: "ingest", ids: []string{"timer"}, subject: "directory).owner"},
	{pkg: "invoices", ids: []string{"library-pool"}, subject: "main.(*billing)"},
	{pkg: "jobboard", ids: []string{"wake-ups-in-vain"}, subject: "board).filled", others: true},
	{pkg: "lexer", ids: []string{"many-handovers"}, subject: "scanner).out"},
	{pkg: "logship", ids: lock, subject: "shipper).mu"},
	{pkg: "metricsbatch", ids: []string{"timer"}, subject: "writer).run"},
	{pkg: "montecarlo", ids: append(lock, "spinning-lock", "many-operations"), subject: "sampler).mu"},
	{pkg: "orders", ids: []string{"new-connections"}, subject: "cluster).Connect"},
	{pkg: "presence", ids: []string{"goroutine-leak"}, subject: "session).heartbeat"},
	{pkg: "resolver", ids: append(lock, "one-processor"), subject: "main.(*geoTable)"},
	{pkg: "routetable", ids: []string{"garbage-collector"}, subject: "table).record"},
	{pkg: "searchidx", ids: []string{"garbage-collector"}, subject: "index).search"},
	{pkg: "sessionstore", ids: lock, subject: "shard).mu"},
	{pkg: "similarity", ids: []string{"unequal-work"}, subject: "matcher).run"},
	{pkg: "tenants", ids: []string{"barrier", "library-wait", "timer"}, subject: "call).done"},
	{pkg: "tilecache", ids: busy, subject: "main.renderTile", remark: true},
	{pkg: "timeline", ids: []string{"system-calls", "prepared-again"}, subject: "calendar).location"},
	{pkg: "transcoder", ids: []string{"semaphore"}, subject: "main.semaphore.acquire"},
	{pkg: "wal", ids: append(lock, "timer"), subject: "wal).mu|wal).Append|disk).sync"},
	{pkg: "wordfreq", ids: []string{"one-receiver", "many-handovers", "many-operations"}, subject: "counter).found"},
	{pkg: "batchnight", ids: []string{"unequal-work"}, subject: "main.main.func1"},
	{pkg: "catalogsync", ids: []string{"timer"}, subject: "pricer).|database)."},
	{pkg: "courier", ids: []string{"pace", "pace-in-part"}, subject: "bucket).fill", remark: true},
	{pkg: "dirsize", ids: []string{"timer", "semaphore"}, subject: "crew).await|crew).queue"},
	{pkg: "flagserver", ids: []string{"system-calls"}, subject: "settings).reload"},
	{pkg: "fleetdispatch", ids: []string{"small-buffer"}, subject: "device).inbox"},
	{pkg: "floorplan", ids: []string{"one-processor", "one-receiver"}, subject: "registrar).loop|registrar).ops"},
	{pkg: "genome", ids: []string{"few-processors"}, subject: ""},
	{pkg: "latencylog", ids: lock, subject: "recorder).mu"},
	{pkg: "mailqueue", ids: []string{"timer"}, subject: "backoff).pause"},
	{pkg: "meterlink", ids: []string{"delayed-acknowledgments"}, subject: "concentrator).handle|meter).post"},
	{pkg: "orderbook", ids: []string{"stops-the-world"}, subject: "gate).usage"},
	{pkg: "quorumkv", ids: []string{"timer", "barrier"}, subject: "cluster).put"},
	{pkg: "routefinder", ids: busy, subject: "solver).solve", remark: true},
	{pkg: "spelling", ids: []string{"input-output"}, subject: "folder).pipe|folder).each"},
	{pkg: "subtitles", ids: []string{"small-buffer"}, subject: "segment).done"},
	{pkg: "telemetry", ids: busy, subject: "uplink).send|downlink).receive", remark: true},
	{pkg: "terrain", ids: busy, subject: "rain).flow", remark: true},
	{pkg: "tiler", ids: []string{"forced-collections"}, subject: "press)."},
	{pkg: "tlsping", ids: []string{"new-connections"}, subject: "publisher).publish"},
	{pkg: "weatherboard", ids: busy, subject: "model).run", remark: true},
	{pkg: "wordbreak", ids: busy, subject: "lexicon).find", remark: true},
	{pkg: "auction", ids: []string{"contended-lock-gains-nothing", "saturated-lock-gains-nothing"},
		subject: "gallery).mu", remark: true, others: true},
	{pkg: "crawlpages", ids: []string{"timer"}, subject: "registry).fetch", others: true},
	{pkg: "nightly", ids: []string{"contended-lock-gains-nothing", "saturated-lock-gains-nothing"},
		subject: "catalog).mu", remark: true, others: true},
	{pkg: "partnerapi", ids: []string{"contended-lock-gains-nothing", "saturated-lock-gains-nothing"},
		subject: "journal).mu", remark: true, others: true},
	{pkg: "ledgerbook", ids: busy, subject: "bank).verify", remark: true, others: true},
	{pkg: "encodefarm", ids: busy, subject: "encoder).encode", remark: true, others: true},
	{pkg: "archiver", ids: []string{"wake-ups-in-vain"}, subject: "position).changed"},
	{pkg: "cadbridge", ids: []string{"locked-threads"}, subject: "kernel).loop"},
	{pkg: "partsync", ids: []string{"new-connections"}, subject: "syncer).lookup"},
	{pkg: "clickrollup", ids: []string{"unequal-work"}, subject: "partition).run"},
	{pkg: "framepool", ids: busy, subject: "scratchPool).put", remark: true},
	{pkg: "importjob", ids: []string{"semaphore"}, subject: "limiter."},
	{pkg: "invoicer", ids: busy, subject: "context.(*valueCtx).Value", remark: true},
	{pkg: "leasekeeper", ids: busy, subject: "keeper).expire", remark: true},
	{pkg: "mailrelay", ids: []string{"timer"}, subject: "backoff).pause"},
	{pkg: "ordergateway", ids: busy, subject: "order).dump", remark: true},
	{pkg: "policyeval", ids: []string{"stack-growth"}, subject: "main.evaluate"},
	{pkg: "positionbook", ids: busy, subject: "book).revalue", remark: true},
	{pkg: "heartbeats", ids: []string{"goroutine-leak"}, subject: "session).heartbeat"},
	{pkg: "replicalog", ids: []string{"timer"}, subject: "cluster).commit"},
	{pkg: "routeexport", ids: append(lock, "timer"), subject: "table).mu"},
	{pkg: "scorer", ids: []string{"timer"}, subject: "batcher).fill"},
	{pkg: "sessionpages", ids: []string{"garbage-collector"}, subject: "memory limit"},
	{pkg: "telemetryhub", ids: busy, subject: "hub).collect", remark: true},
	{pkg: "tilerender", ids: busy, subject: "main.renderTile", remark: true},
	{pkg: "segments", ids: []string{"timer"}, subject: "turnstile)."},
	{pkg: "usagebilling", ids: []string{"system-calls", "input-output", "prepared-again"}, subject: "systemZones"},
	{pkg: "wireclient", ids: []string{"delayed-acknowledgments"}, subject: "main.serve|client).send"},
	{pkg: "labelspool", ids: []string{"contended-lock-gains-nothing", "saturated-lock-gains-nothing"},
		subject: "lane).mu", remark: true, others: true},
	{pkg: "nightlyplan", ids: []string{"contended-lock-gains-nothing", "saturated-lock-gains-nothing"},
		subject: "board).mu", remark: true, others: true},
	{pkg: "chaintimestamp", ids: []string{"one-processor"}, subject: "notary).run", others: true},
	{pkg: "deltapack"}, {pkg: "fractalfarm"}, {pkg: "gatecontroller"}, {pkg: "playout"}, {pkg: "quotapull"},
	{pkg: "contactsheet"}, {pkg: "packer"}, {pkg: "queens"}, {pkg: "ratecache"}, {pkg: "raytrace"}, {pkg: "restapi"},
	{pkg: "textindex"}, {pkg: "tilemult"}, {pkg: "feedwatch"}, {pkg: "kmercount"}, {pkg: "loginburst"},
	{pkg: "optionbook"},
	{pkg: "kinds", kind: "healthypool"},
	{pkg: "kinds", kind: "healthypipe"},
	{pkg: "kinds", kind: "healthyshards"},
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
	chosen, err := bench.Choose(list, func(o one) string { return o.name() }, fs.Args())
	if err != nil {
		return err
	}
	t.table.Columns = []string{"program", "place", "first conclusion", "promised", "measured", "inside"}
	for i := range chosen {
		if err := t.program(&chosen[i]); err != nil {
			return fmt.Errorf("%s: %w", chosen[i].name(), err)
		}
	}
	t.table.Add([]string{"all", fmt.Sprintf("%d of %d first or second", t.right, t.bad),
		fmt.Sprintf("%d of %d healthy ones have none", t.quiet, t.healthy), "", "",
		fmt.Sprintf("%d of %d", t.inside, t.promised)})
	t.table.Print()
	return e.Keep(t.table)
}

var ran = regexp.MustCompile(`truth run ([0-9.a-zµ]+)`)

// program tries one.
func (t *trial) program(o *one) error {
	plain, probed, err := t.Both("cases-"+o.pkg, "testdata/cases", "./"+o.pkg)
	if err != nil {
		return err
	}
	var args []string
	if o.kind != "" {
		args = []string{o.kind}
	}
	items, wall, err := t.conclusions(o, probed, args)
	if err != nil {
		return err
	}
	times := map[string][]float64{}
	if len(o.ids) > 0 && !o.others {
		cases := []lab.Case{{Name: "plain", Job: lab.Job{Program: plain, Plain: true, Args: args, Collect: true}},
			{Name: "fixed", Job: lab.Job{Program: plain, Plain: true, Args: append([]string{"-fix"}, args...), Collect: true}}}
		err := t.Turns(t.rounds, cases, func(r lab.Result) error {
			m := ran.FindStringSubmatch(string(r.Stdout))
			if m == nil {
				return fmt.Errorf("found no time in %q", r.Stdout)
			}
			d, err := time.ParseDuration(m[1])
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
func (t *trial) conclusions(o *one, probed string, args []string) ([]advice.Item, int64, error) {
	file := filepath.Join(t.Scratch, strings.ReplaceAll(o.name(), " ", "-")+".sddf")
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
func (t *trial) score(o *one, items []advice.Item, wall int64, times map[string][]float64) {
	found := slices.DeleteFunc(slices.Clone(items), func(it advice.Item) bool { return it.Remark != o.remark })
	first := "none"
	if i := slices.IndexFunc(items, func(it advice.Item) bool { return !it.Remark }); i >= 0 {
		first = items[i].ID + " " + items[i].Subject.Name
	}
	row := []string{o.name(), "", first, "", "", ""}
	if len(o.ids) == 0 {
		if t.healthy++; first == "none" {
			t.quiet++
			row[1] = "right"
		}
		t.table.Add(row)
		return
	}
	t.bad++
	place := slices.IndexFunc(found, func(it advice.Item) bool {
		return slices.Contains(o.ids, it.ID) && slices.ContainsFunc(strings.Split(o.subject, "|"),
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
