// Callers of the database sample: "customers" asks and waits for rows, "orders" leaves an order behind.
import http from 'k6/http';
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';

const target = __ENV.TARGET;
const asks = target.endsWith('/customers');
const done = new Counter('done');
const wrong = new Counter('wrong'); // not as asked for, whatever its status
const parameters = { headers: { 'Content-Type': 'application/json' }, timeout: '120s' };

export const options = {
  vus: Number(__ENV.VUS),
  duration: `${__ENV.DURATION}s`,
  summaryTrendStats: ['avg', 'p(50)', 'p(95)'],
  thresholds: { http_req_failed: ['rate==0'] },
};

// The first answer, looked through: every other one has to be the same.
export function setup() {
  if (!asks) return null;
  const { status, body } = http.post(target, '{"country":"France"}', parameters);
  const rows = status === 200 ? JSON.parse(body) : [];
  if (rows.length === 0 || rows.some(row => row.country !== 'France')) throw new Error(`the answer is ${status}: ${body}`);
  return body;
}

export default function (answer) {
  const response = http.post(target, asks ? '{"country":"France"}' : `{"order":"${__VU}-${__ITER}"}`, parameters);
  const isRight = asks ? response.status === 200 && response.body === answer : response.status === 202 && response.headers['Esb-Message-Id'] !== undefined;
  (isRight ? done : wrong).add(1);
  sleep(0.02); // as the callers of the figures that this is compared with
}

export function handleSummary(data) {
  const duration = data.metrics.http_req_duration.values;
  const count = data.metrics.done ? data.metrics.done.values.count : 0;
  const seconds = data.state.testRunDurationMs / 1000;
  const failures = data.metrics.wrong ? data.metrics.wrong.values.count : 0;
  const line = [count, (count / seconds).toFixed(0), duration.avg.toFixed(0), duration['p(95)'].toFixed(0), failures].join(' ');
  return { [__ENV.RESULT]: `${line}\n` };
}
