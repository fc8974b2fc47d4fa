// Calls a workflow as a web service at a fixed rate; loadtests/service starts the host.
import http from 'k6/http';
import { check } from 'k6';

const { TARGET, RUN, RATE, DURATION } = __ENV;
const warmUp = 20;
const steady = { executor: 'constant-arrival-rate', rate: Number(RATE), preAllocatedVUs: 500 };

export const options = {
  scenarios: {
    'warm-up': { ...steady, duration: `${warmUp}s` },
    measured: { ...steady, duration: `${DURATION}s`, startTime: `${warmUp}s` },
  },
  summaryTrendStats: ['med', 'p(95)', 'p(99)', 'max'],
  thresholds: {
    'checks{scenario:measured}': ['rate==1'],
    'dropped_iterations{scenario:measured}': ['count==0'], // the rate was held
    'http_req_duration{scenario:measured}': ['p(95)>0'],
    'http_reqs{scenario:measured}': ['count>0'],
  },
};

export default function () {
  const order = `${RUN}-${__VU}-${__ITER}`;
  const response = http.post(TARGET, JSON.stringify({ order }), { headers: { 'Content-Type': 'application/json' } });
  check(response, { served: (r) => r.status === 200 && r.body === 'served' });
}

export function handleSummary({ metrics }) {
  const of = (metric) => metrics[`${metric}{scenario:measured}`]?.values ?? {};
  const times = of('http_req_duration');
  const dropped = of('dropped_iterations').count ?? 0;
  const line = `${Math.round(of('http_reqs').count / Number(DURATION))}/s of ${RATE}/s, ${dropped} not sent: `
    + `median ${times.med.toFixed(1)} ms, p95 ${times['p(95)'].toFixed(1)} ms, p99 ${times['p(99)'].toFixed(1)} ms, `
    + `most ${times.max.toFixed(1)} ms, `
    + `${of('checks').fails} wrong answers\n`;
  return { stdout: line };
}
