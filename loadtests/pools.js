// Callers of the database sample: "customers" asks and waits for rows, "orders" leaves an order behind.
import http from 'k6/http';
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';

const target = __ENV.TARGET;
const asks = target.endsWith('/customers');
const done = new Counter('done');

export const options = {
  vus: Number(__ENV.VUS),
  duration: `${__ENV.DURATION}s`,
  summaryTrendStats: ['avg', 'p(50)', 'p(95)'],
  thresholds: { http_req_failed: ['rate==0'] },
};

export default function () {
  const body = asks ? '{"country":"France"}' : `{"order":"${__VU}-${__ITER}"}`;
  const response = http.post(target, body, { headers: { 'Content-Type': 'application/json' }, timeout: '120s' });
  if (response.status === (asks ? 200 : 202)) done.add(1);
  sleep(0.02); // as the callers of the figures that this is compared with
}

export function handleSummary(data) {
  const duration = data.metrics.http_req_duration.values;
  const count = data.metrics.done ? data.metrics.done.values.count : 0;
  const seconds = data.state.testRunDurationMs / 1000;
  const line = [count, (count / seconds).toFixed(0), duration.avg.toFixed(0), duration['p(95)'].toFixed(0), data.metrics.http_req_failed.values.passes].join(' ');
  return { [__ENV.RESULT]: `${line}\n` };
}
