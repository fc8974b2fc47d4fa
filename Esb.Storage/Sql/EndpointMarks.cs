using System.Globalization;
using Esb.Core.Storage;

namespace Esb.Storage.Sql;

/// <summary>Values of endpoints in the table <c>endpoint_mark</c>.</summary>
internal sealed class EndpointMarks(SqlDatabase database, TimeProvider time) : IEndpointMarks
{
    private const string Find =
        "select value from endpoint_mark where endpoint = @endpoint and name = @name and (expires_at is null or expires_at >= @now)";

    private const string Counter = "sequence";

    // The first statement of the transaction locks the counter, so that hosts take turns.
    private const string Count = """
        insert into endpoint_mark (endpoint, name, value, changed_at, expires_at) values (@endpoint, @name, '1', @now, null)
        on conflict (endpoint, name) do update set
          value = cast(cast(endpoint_mark.value as bigint) + 1 as text), changed_at = excluded.changed_at
        returning value
        """;

    private const string Uncount = """
        update endpoint_mark set value = cast(cast(value as bigint) - 1 as text) where endpoint = @endpoint and name = @name
        """;

    // A few at a time: those of a long pause would take longer than a command may, and every call would fail.
    private readonly string _keep = $"""
        delete from endpoint_mark where (endpoint, name) in (
          select endpoint, name from endpoint_mark where expires_at < @now order by expires_at
          limit 100{database.Dialect.ForUpdateSkipLocked});
        insert into endpoint_mark (endpoint, name, value, changed_at, expires_at) values (@endpoint, @name, @value, @now, @expiresAt)
        on conflict (endpoint, name) do update set value = excluded.value, changed_at = excluded.changed_at, expires_at =
          excluded.expires_at
        """;

    public Task<string?> FindAsync(string endpoint, string name, CancellationToken cancellationToken) =>
        database.FirstAsync<string?>(Find, row => row.Text("value"), cancellationToken, Of(endpoint, name, time.GetUtcNow()));

    public Task KeepAsync(string endpoint, string name, string value, TimeSpan? keep, CancellationToken cancellationToken)
    {
        var now = time.GetUtcNow();
        return database.ExecuteAsync(
            _keep,
            cancellationToken,
            ("endpoint", endpoint),
            ("name", name),
            ("value", value),
            ("now", now),
            ("expiresAt", now + keep)
        );
    }

    public async Task<long> NumberAsync(string endpoint, Guid message, CancellationToken cancellationToken)
    {
        var name = $"{Counter} of {message:N}";
        if (await FindAsync(endpoint, name, cancellationToken) is { } known)
            return Read(known);
        return await database.TransactAsync(
            async session =>
            {
                var now = time.GetUtcNow();
                var number = await session.FirstAsync(
                    Count,
                    row => row.Text("value"),
                    ("endpoint", endpoint),
                    ("name", Counter),
                    ("now", now)
                );
                if (await session.FirstAsync(Find, row => row.Text("value"), Of(endpoint, name, now)) is { } meanwhile)
                {
                    await session.ExecuteAsync(Uncount, ("endpoint", endpoint), ("name", Counter));
                    return Read(meanwhile);
                }

                (string, object?)[] kept = [.. Of(endpoint, name, now), ("value", number), ("expiresAt", now + IEndpointMarks.NumberKept)];
                await session.ExecuteAsync(_keep, kept);
                return Read(number!);
            },
            cancellationToken
        );
    }

    public Task RemoveAsync(string endpoint, string name, CancellationToken cancellationToken) =>
        database.ExecuteAsync(
            "delete from endpoint_mark where endpoint = @endpoint and name = @name",
            cancellationToken,
            ("endpoint", endpoint),
            ("name", name)
        );

    private static (string, object?)[] Of(string endpoint, string name, DateTimeOffset now) =>
        [("endpoint", endpoint), ("name", name), ("now", now)];

    private static long Read(string number) => long.Parse(number, CultureInfo.InvariantCulture);
}
