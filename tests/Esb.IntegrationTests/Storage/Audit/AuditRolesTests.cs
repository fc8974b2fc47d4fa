using System.Text.RegularExpressions;
using Dapper;
using Esb.Core.Audit;
using Npgsql;
using NUnit.Framework;

namespace Esb.IntegrationTests.Storage.Audit;

/// <summary>The statements of docs/operate/audit/roles.md for a role that may add to the audit and read it, and nothing else.</summary>
public sealed partial class AuditRolesTests
{
    [Test, CancelAfter(60_000)]
    public async Task A_role_that_may_only_insert_and_select_audit_facts_is_enough_for_a_host(CancellationToken cancellationToken)
    {
        await using var schema = await TestSchema.StartAsync();
        await schema.StopAsync();
        var role = $"esb_app_{Guid.NewGuid():N}";
        await schema.QueryAsync<int>($"create role {role} login password '{role}'");
        try
        {
            await schema.QueryAsync<int>(
                Statements()
                    .Replace("esb_app", role)
                    .Replace("schema esb ", $"schema {schema.Config.Schema} ")
                    .Replace("to esb;", $"to {schema.Config.Schema};")
            );
            var connection = new NpgsqlConnectionStringBuilder(schema.Config.Connection)
            {
                Username = role,
                Password = role,
            }.ConnectionString;
            var store = schema.Open(Path.Combine(schema.Config.Folder, "app"), connection);
            await store.StartAsync(cancellationToken);
            var fact = SomeFacts.Fact(time: new DateTimeOffset(2026, 3, 1, 0, 0, 0, TimeSpan.Zero), fields: [("order", "A-1")]);

            await store.Audit.AppendAsync([fact], cancellationToken); // of a day whose tables have to be made
            await store.Audit.AppendAsync(
                [fact, .. Enumerable.Range(0, 600).Select(_ => SomeFacts.Fact() with { Body = new byte[100] })],
                cancellationToken
            );

            Assert.That(await store.Audit.CheckAsync(cancellationToken), Is.Null);
            Assert.That(
                await store.Audit.FindAsync(new AuditQuery { Limit = 1000 }, cancellationToken).CountAsync(cancellationToken),
                Is.EqualTo(601)
            );
            await using var app = new NpgsqlConnection(connection + $";Search Path={schema.Config.Schema}");
            foreach (
                var sql in new[]
                {
                    "update audit_event set reason = 'x'",
                    "delete from audit_event",
                    "truncate audit_event",
                    "drop table audit_event_20260301",
                    "update audit_event set body = null",
                    "insert into audit_erasure values (gen_random_uuid(), now())",
                }
            )
                Assert.That(
                    () => app.ExecuteAsync(sql),
                    Throws.TypeOf<PostgresException>().With.Property("SqlState").EqualTo("42501"),
                    sql
                );

            foreach (
                var sql in new[]
                {
                    "create table mine (x int)",
                    "create function to_char(date, text) returns text language sql as 'select null::text'",
                }
            )
                Assert.That(
                    () => app.ExecuteAsync(sql),
                    Throws.TypeOf<PostgresException>().With.Property("SqlState").EqualTo("42501"),
                    sql
                );
            Assert.That(() => app.ExecuteAsync("select make_store_day('audit_event', '2031-01-01')"), Throws.TypeOf<PostgresException>());
            await app.ExecuteAsync(
                "select make_store_day('claim_check', '2031-01-01'); select drop_store_day('claim_check', '2031-01-01')"
            );

            var erased = SomeFacts.Fact() with { Body = new byte[100] };
            await store.Audit.AppendAsync([erased, SomeFacts.Fact(AuditKind.Erased, erased.MessageId)], cancellationToken);
            Assert.That(
                () => store.Eraser.EraseBodiesAsync(erased.MessageId, cancellationToken),
                Throws.Exception.With.InnerException.Property("SqlState").EqualTo("42501")
            );
            await schema.QueryAsync<int>($"grant execute on function erase_audit_bodies to {role}");
            Assert.That(await store.Eraser.EraseBodiesAsync(erased.MessageId, cancellationToken), Is.EqualTo(1));
        }
        finally
        {
            await schema.StopAsync();
            await schema.QueryAsync<int>($"reassign owned by {role} to current_user; drop owned by {role}; drop role {role}");
        }
    }

    [Test, CancelAfter(60_000)]
    public async Task Functions_of_the_owner_run_nothing_that_another_role_put_in_their_way(CancellationToken cancellationToken)
    {
        await using var schema = await TestSchema.StartAsync();
        var role = $"esb_app_{Guid.NewGuid():N}";
        await schema.QueryAsync<int>(
            $"""
            create role {role} login password '{role}';
            grant usage, create on schema {schema.Config.Schema} to {role};
            grant select on audit_event to {role};
            grant execute on function make_audit_day, erase_audit_bodies to {role}
            """
        );
        try
        {
            var connection = new NpgsqlConnectionStringBuilder(schema.Config.Connection)
            {
                Username = role,
                Password = role,
                SearchPath = schema.Config.Schema,
            };
            await using var app = new NpgsqlConnection(connection.ConnectionString);
            await app.OpenAsync(cancellationToken);
            await app.ExecuteAsync(
                """
                create function to_char(date, text) returns text language plpgsql as $$ begin raise exception 'as %', current_user; end $$;
                create function trapped() returns trigger language plpgsql as $$ begin raise exception 'as %', current_user; end $$;
                create temporary table audit_event (message_id uuid, kind text, occurred_at timestamptz, body bytea);
                create temporary table audit_erasure (message_id uuid primary key, happened_until timestamptz);
                create trigger trap before insert on audit_erasure for each row execute function trapped();
                insert into audit_event values ('00000000-0000-0000-0000-000000000001', 'Erased', now(), 'x');
                grant all on audit_event, audit_erasure to public
                """
            );

            Assert.That(async () => await app.ExecuteAsync("select make_audit_day('2031-01-01')"), Throws.Nothing);
            Assert.That(
                async () => await app.ExecuteAsync("select erase_audit_bodies('00000000-0000-0000-0000-000000000001')"),
                Throws.TypeOf<PostgresException>().With.Property("MessageText").StartsWith("no fact tells")
            );
        }
        finally
        {
            await schema.QueryAsync<int>($"drop owned by {role}; drop role {role}");
        }
    }

    private static string Statements()
    {
        var text = File.ReadAllText(Path.Combine(Repository.Root, "docs", "operate", "audit", "roles.md"));
        return SqlOfRoles().Match(text).Groups["sql"].Value;
    }

    [GeneratedRegex("```sql\n-- roles\n(?<sql>.*?)```", RegexOptions.Singleline)]
    private static partial Regex SqlOfRoles();
}
