using Esb.Core.Storage;

namespace Esb.Storage.Sql;

/// <summary>Values of endpoints in the table <c>endpoint_mark</c>.</summary>
internal sealed class EndpointMarks(SqlDatabase database, TimeProvider time) : IEndpointMarks
{
    private const string Keep = """
        delete from endpoint_mark where expires_at < @now;
        insert into endpoint_mark (endpoint, name, value, changed_at, expires_at) values (@endpoint, @name, @value, @now, @expiresAt)
        on conflict (endpoint, name) do update set value = excluded.value, changed_at = excluded.changed_at, expires_at =
          excluded.expires_at
        """;

    public Task<string?> FindAsync(string endpoint, string name, CancellationToken cancellationToken) =>
        database.FirstAsync<string?>(
            "select value from endpoint_mark where endpoint = @endpoint and name = @name and (expires_at is null or expires_at >= @now)",
            row => row.Text("value"),
            cancellationToken,
            ("endpoint", endpoint),
            ("name", name),
            ("now", time.GetUtcNow())
        );

    public Task KeepAsync(string endpoint, string name, string value, TimeSpan? keep, CancellationToken cancellationToken)
    {
        var now = time.GetUtcNow();
        return database.ExecuteAsync(
            Keep,
            cancellationToken,
            ("endpoint", endpoint),
            ("name", name),
            ("value", value),
            ("now", now),
            ("expiresAt", now + keep)
        );
    }

    public Task RemoveAsync(string endpoint, string name, CancellationToken cancellationToken) =>
        database.ExecuteAsync(
            "delete from endpoint_mark where endpoint = @endpoint and name = @name",
            cancellationToken,
            ("endpoint", endpoint),
            ("name", name)
        );
}
