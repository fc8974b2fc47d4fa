// Posts one document again and again, and compares every answer, byte for byte; loadtests/steps starts the host and the back end.
import http from 'k6/http';
import { Counter } from 'k6/metrics';

const { TARGET, BODY, ANSWER, RESULT, VUS = '20', SECONDS = '5', KEEP_ALIVE = 'on' } = __ENV;
const body = open(BODY);
const answer = open(ANSWER);
const right = new Counter('right');
const wrong = new Counter('wrong');

export const options = {
  vus: Number(VUS),
  duration: `${SECONDS}s`,
  noConnectionReuse: KEEP_ALIVE === 'off',
  summaryTrendStats: ['med', 'p(95)'],
  thresholds: { wrong: ['count==0'] },
};

export default function () {
  const response = http.post(TARGET, body, { headers: { 'Content-Type': 'text/xml; charset=utf-8' }, timeout: '60s' });
  (response.status === 200 && response.body === answer ? right : wrong).add(1);
}

// One line: right answers, wrong ones, milliseconds that it took, median and 95th percentile of an answer in milliseconds.
export function handleSummary({ metrics, state }) {
  const count = (metric) => (metrics[metric] ? metrics[metric].values.count : 0);
  const { med, 'p(95)': p95 } = metrics.http_req_duration.values;
  return { [RESULT]: `${[count('right'), count('wrong'), state.testRunDurationMs, med, p95].join(' ')}\n` };
}
