using System.Globalization;

namespace Esb.IntegrationTests.Storage.Audit;

/// <summary>A large audit, made inside the database: orders of thirty days, five facts each, as hosts that record headers and fields of
/// what they receive would have written them, but for the links of the chain.</summary>
/// <param name="schema">Where to.</param>
/// <param name="facts">How many; a multiple of 150 is met.</param>
internal sealed class GeneratedAudit(TestSchema schema, int facts)
{
    public const int Days = 30;
    public const int FactsOfMessage = 5;

    public static readonly DateTimeOffset Start = new(2026, 3, 1, 0, 0, 0, TimeSpan.Zero);

    // A day is filled before it belongs to its table, and indexed after it is filled: sorting is faster than inserting, and needs no log.
    private const string Functions = """
        create function id_of(moment timestamptz, sequence int, seed text) returns uuid language sql stable as $$
          select (lpad(to_hex((date_part('epoch', moment) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex(sequence), 3, '0') || '8' || left(md5(seed), 15))::uuid
        $$;

        create function fill_day(parent text, day date, rows text) returns void language plpgsql as $$
        declare
          child text := parent || to_char(day, '_YYYYMMDD');
          statement text;
        begin
          execute format('create table %I (like %I including defaults including storage)', child, parent);
          execute replace(rows, 'TARGET', quote_ident(child));
          for statement in select regexp_replace(pg_get_indexdef(indexrelid), 'INDEX .* USING', format('INDEX ON %I USING', child)) from pg_index where indrelid = parent::regclass and not indisprimary loop
            execute statement;
          end loop;
          execute format('alter table %I add %s', child, (select pg_get_constraintdef(oid) from pg_constraint where conrelid = parent::regclass and contype = 'p'));
          execute format('analyze %I', child);
        end $$;

        create function attach_day(parent text, day date) returns void language plpgsql as $$
        begin
          execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, parent || to_char(day, '_YYYYMMDD'), to_char(day, 'YYYY-MM-DD') || ' 00:00+00', to_char(day + 1, 'YYYY-MM-DD') || ' 00:00+00');
        end $$;
        """;

    public int Messages { get; } = facts / FactsOfMessage / Days * Days;

    private int MessagesOfDay => Messages / Days;

    // Many messages, but all of the first days.
    private string IsCampaign => string.Create(CultureInfo.InvariantCulture, $"m % 40 = 0 and m < {Messages / 10}");

    public async Task WriteAsync(CancellationToken cancellationToken)
    {
        await schema.RunAsync(Functions);
        await Parallel.ForEachAsync(
            Enumerable.Range(0, Days),
            new ParallelOptions { MaxDegreeOfParallelism = 2, CancellationToken = cancellationToken },
            async (day, _) => await WriteDayAsync(day)
        );
        await Task.WhenAll(schema.RunAsync("vacuum audit_event"), schema.RunAsync("vacuum audit_field")); // as the server does by and by
    }

    private async Task WriteDayAsync(int number)
    {
        var (day, messages) = (Start.AddDays(number).ToString("yyyy-MM-dd", CultureInfo.InvariantCulture), MessagesOf(number));
        await schema.RunAsync($"select fill_day('audit_event', '{day}', $rows${Events(messages)}$rows$)");
        await schema.RunAsync($"select fill_day('audit_field', '{day}', $rows${Fields(messages)}$rows$)");
        foreach (var table in new[] { "audit_event", "audit_field" })
            await schema.RunAsync($"select attach_day('{table}', '{day}')");
        await schema.RunAsync($"select make_audit_day('{day}')"); // what days have of their own
    }

    // Some messages fail, some are given up, a few wait; one endpoint and one party are hardly ever heard of, one party sends every other
    // message.
    private string Events(string messages) =>
        $$"""
            insert into TARGET (id, occurred_at, kind, message_id, conversation_id, endpoint, process, step, name, subject, attempt, duration, code, reason, trace_id, party, host, revision, fields, headers, content_type, chain, number, link)
            select id_of(at + f * interval '20 ms', f, (m * 5 + f)::text), at + f * interval '20 ms', kind, message, message,
              case when f < 3 then 'shop-' || m % 5 when f = 3 then 'warehouse-' || m % 10 when m % 20000 = 77 then 'rare' else 'ledger' end,
              case when f < 3 then case when m % 1000 = 5 then 'cancel-order' else 'receive-order' end end,
              case f when 2 then 'steps.4.choose.otherwise.0.publish' end, case f when 1 then 'order-received' end, case when f > 1 then 'orders.accepted' end,
              case when f > 2 then 1 else 0 end, case when f > 1 then (m % 97) * interval '1 ms' end,
              case when kind in ('Failed', 'DeadLettered', 'Parked') then 'ESB-HTTP-STATUS' end, case when kind in ('Failed', 'DeadLettered', 'Parked') then repeat('The endpoint answered 503. ', 6) end,
              md5('trace' || m), case when m % 50000 = 3 then 'party-rare' when m % 2 = 0 then 'party-large' else 'party-' || m % 1000 end, 'esb-' || m % 2 || '/4711', '9f2c01d7ab34',
              case f when 0 then jsonb_build_object('order', 'A-' || m, 'customer', 'C-' || m * 7919 % 20000, 'country', 'country-' || m % 20) || case when {{IsCampaign}} then '{"campaign": "spring"}' else '{}' end::jsonb
                when 1 then jsonb_build_object('order', 'A-' || m, 'total', round(m * 31 % 100000 / 100.0, 2)::text) end,
              case f when 0 then jsonb_build_object('content-type', 'application/xml', 'user-agent', 'shop/4.2', 'x-order', 'A-' || m, 'x-shop', 'north-' || m % 5) end, case f when 0 then 'application/xml' end,
              case m % 2 when 0 then '018e0000-0000-7000-8000-000000000000' else '018e0000-0000-7000-8000-000000000001' end::uuid, (m - first) * 5 + f + 1, sha256((m * 5 + f)::text::bytea)
            from {{messages}}, generate_series(0, 4) f,
              lateral (select case f when 0 then 'Received' when 1 then 'Recorded' when 2 then 'Published' when 3 then 'Delivered' else
                case when m % 100000 = 9 then 'Parked' when m % 10000 = 8 then 'DeadLettered' when m % 500 = 7 then 'Failed' else 'Delivered' end end as kind) kinds
            """;

    private string Fields(string messages) =>
        $$"""
            insert into TARGET (name, value, event_id, occurred_at)
            select name, value, id_of(at + f * interval '20 ms', f, (m * 5 + f)::text), at + f * interval '20 ms'
            from {{messages}}, lateral (values
              (0, 'order', 'A-' || m), (0, 'customer', 'C-' || m * 7919 % 20000), (0, 'country', 'country-' || m % 20), (0, 'campaign', case when {{IsCampaign}} then 'spring' end), (1, 'order', 'A-' || m), (1, 'total', round(m * 31 % 100000 / 100.0, 2)::text)) fields (f, name, value)
            where value is not null
            """;

    // Their numbers, times and ids.
    private string MessagesOf(int day)
    {
        var first = (long)day * MessagesOfDay;
        return string.Create(
            CultureInfo.InvariantCulture,
            $$"""
            (select m, first, at, id_of(at, 4095, 'message' || m) as message
             from (select m, {{first}}::bigint as first, timestamptz '{{Start.AddDays(
                day
            ):yyyy-MM-dd}} 00:00+00' + (m - {{first}}) * interval '1 day' / {{MessagesOfDay}} as at
                   from generate_series({{first}}::bigint, {{first + MessagesOfDay - 1}}) m) times offset 0) messages
            """
        );
    }
}
