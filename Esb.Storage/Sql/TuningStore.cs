using Esb.Core.Storage;

namespace Esb.Storage.Sql;

/// <summary>Tuned settings in the table <c>tuning</c>.</summary>
internal sealed class TuningStore(SqlDatabase database) : ITuningStore
{
    private const string Set = """
        insert into tuning (endpoint, setting, value, configured, changed_by, changed_at) values (@endpoint, @setting, @value, @configured,
          @by, @at)
        on conflict (endpoint, setting) do update
        set value = excluded.value, configured = excluded.configured, changed_by = excluded.changed_by, changed_at = excluded.changed_at
        """;

    public async Task<IReadOnlyList<TunedSetting>> ListAsync(CancellationToken cancellationToken) =>
        await database.QueryAsync(
            "select endpoint, setting, value, configured, changed_by, changed_at from tuning order by endpoint, setting",
            Read,
            cancellationToken
        );

    public Task SetAsync(IReadOnlyCollection<TunedSetting> settings, CancellationToken cancellationToken) =>
        database.TransactAsync(
            async session =>
            {
                foreach (var (endpoint, setting, value, configured, by, at) in settings)
                    await session.ExecuteAsync(
                        Set,
                        ("endpoint", endpoint),
                        ("setting", setting),
                        ("value", value),
                        ("configured", configured),
                        ("by", by),
                        ("at", at)
                    );
                return settings.Count;
            },
            cancellationToken
        );

    public Task RemoveAsync(string endpoint, string? setting, CancellationToken cancellationToken) =>
        setting is null
            ? database.ExecuteAsync("delete from tuning where endpoint = @endpoint", cancellationToken, ("endpoint", endpoint))
            : database.ExecuteAsync(
                "delete from tuning where endpoint = @endpoint and setting = @setting",
                cancellationToken,
                ("endpoint", endpoint),
                ("setting", setting)
            );

    private static TunedSetting Read(SqlRow row) =>
        new(
            row.Text("endpoint"),
            row.Text("setting"),
            row.Text("value"),
            row.TextOrNull("configured"),
            row.Text("changed_by"),
            row.Time("changed_at")
        );
}
