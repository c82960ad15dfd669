package main

import (
	"fmt"
	"time"
)

// run is here all parts in turn.
func run(repaired func(string) bool) {
	s := size{200, 50, 4, 20, 1e6}
	for _, p := range []struct {
		name        string
		f, repaired func(size)
	}{
		{"askloop", askloop, askloopRepaired},
		{"atomics", atomics, atomicsRepaired},
		{"backoff", backoff, backoffRepaired},
		{"batches", batches, batchesRepaired},
		{"batchtimeout", batchtimeout, batchtimeoutRepaired},
		{"bigcopy", bigcopy, bigcopyRepaired},
		{"bursts", bursts, burstsRepaired},
		{"bytewrites", bytewrites, bytewritesRepaired},
		{"casloop", casloop, casloopRepaired},
		{"chanmutex", chanmutex, chanmutexRepaired},
		{"columnwalk", columnwalk, columnwalkRepaired},
		{"concat", concat, concatRepaired},
		{"condqueue", condqueue, condqueueRepaired},
		{"countlock", countlock, countlockRepaired},
		{"ctxchain", ctxchain, ctxchainRepaired},
		{"deadline", deadline, deadlineRepaired},
		{"deepstacks", deepstacks, deepstacksRepaired},
		{"encode", encode, encodeRepaired},
		{"errorstacks", errorstacks, errorstacksRepaired},
		{"falsesharing", falsesharing, falsesharingRepaired},
		{"fewpermits", fewpermits, fewpermitsRepaired},
		{"garbage", garbage, garbageRepaired},
		{"globallock", globallock, globallockRepaired},
		{"herd", herd, herdRepaired},
		{"lateanswers", lateanswers, lateanswersRepaired},
		{"leak", leak, leakRepaired},
		{"linearsearch", linearsearch, linearsearchRepaired},
		{"liveheap", liveheap, liveheapRepaired},
		{"lockchain", lockchain, lockchainRepaired},
		{"lockedwork", lockedwork, lockedworkRepaired},
		{"loglock", loglock, loglockRepaired},
		{"longestlast", longestlast, longestlastRepaired},
		{"losers", losers, losersRepaired},
		{"merge", merge, mergeRepaired},
		{"newconnections", newconnections, newconnectionsRepaired},
		{"onepermit", onepermit, onepermitRepaired},
		{"oneproc", oneproc, oneprocRepaired},
		{"onereceiver", onereceiver, onereceiverRepaired},
		{"panicresults", panicresults, panicresultsRepaired},
		{"pingpong", pingpong, pingpongRepaired},
		{"pollsleep", pollsleep, pollsleepRepaired},
		{"ratelimit", ratelimit, ratelimitRepaired},
		{"readagain", readagain, readagainRepaired},
		{"readcounter", readcounter, readcounterRepaired},
		{"recursion", recursion, recursionRepaired},
		{"regexpeach", regexpeach, regexpeachRepaired},
		{"serialloop", serialloop, serialloopRepaired},
		{"serialproducer", serialproducer, serialproducerRepaired},
		{"serialrequests", serialrequests, serialrequestsRepaired},
		{"serialsleeps", serialsleeps, serialsleepsRepaired},
		{"skew", skew, skewRepaired},
		{"sleeplock", sleeplock, sleeplockRepaired},
		{"slowonce", slowonce, slowonceRepaired},
		{"slowreader", slowreader, slowreaderRepaired},
		{"smallcache", smallcache, smallcacheRepaired},
		{"snapshot", snapshot, snapshotRepaired},
		{"spinflag", spinflag, spinflagRepaired},
		{"stages", stages, stagesRepaired},
		{"stampede", stampede, stampedeRepaired},
		{"staticparts", staticparts, staticpartsRepaired},
		{"synceach", synceach, synceachRepaired},
		{"tickflush", tickflush, tickflushRepaired},
		{"tinygoroutines", tinygoroutines, tinygoroutinesRepaired},
		{"tinysteps", tinysteps, tinystepsRepaired},
		{"workerarray", workerarray, workerarrayRepaired},
		{"writelock", writelock, writelockRepaired},
	} {
		began := time.Now()
		if repaired(p.name) {
			p.repaired(s)
		} else {
			p.f(s)
		}
		fmt.Println(p.name, time.Since(began))
	}
}
