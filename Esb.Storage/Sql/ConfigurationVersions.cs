using System.IO.Compression;
using System.Text.Json;
using Esb.Core.Errors;
using Esb.Core.Storage;

namespace Esb.Storage.Sql;

/// <summary>Versions of the configuration in the table <c>configuration_version</c>.</summary>
internal sealed class ConfigurationVersions(SqlDatabase database) : IConfigurationVersions
{
    private const int Kept = 50;
    private const string Columns = "number, revision, based_on, kind, changes, made_by, reason, coalesce(accepted_at, proposed_at) as at";

    private const string Propose = """
        insert into configuration_version (number, exchange, revision, based_on, kind, changes, content, made_by, reason, proposed_at)
        values (@number, @exchange, @revision, @basedOn, @kind, @changes, @content, @by, @reason, clock_timestamp())
        on conflict do nothing
        """;

    private static readonly TimeSpan LongestProposal = TimeSpan.FromMinutes(2);

    public async Task<IReadOnlyList<ConfigurationVersion>> ListAsync(CancellationToken cancellationToken) =>
        await database.QueryAsync(
            $"select {Columns} from configuration_version where accepted_at is not null order by number desc",
            Read,
            cancellationToken
        );

    public Task<ConfigurationVersion?> FindNewestAsync(CancellationToken cancellationToken) =>
        database.FirstAsync(
            $"select {Columns} from configuration_version where accepted_at is not null order by number desc limit 1",
            Read,
            cancellationToken
        );

    public Task<StoredConfiguration?> FindAsync(long number, CancellationToken cancellationToken) =>
        database.FirstAsync(
            $"select {Columns}, content from configuration_version where number = @number",
            ReadWhole,
            cancellationToken,
            ("number", number)
        );

    public Task<StoredConfiguration?> FindAsync(string revision, CancellationToken cancellationToken) =>
        database.FirstAsync(
            $"select {Columns}, content from configuration_version where revision = @revision order by number desc limit 1",
            ReadWhole,
            cancellationToken,
            ("revision", revision)
        );

    public async Task<bool> IsAcceptedAsync(Guid exchange, CancellationToken cancellationToken) =>
        await database.FirstAsync<long?>(
            "select number from configuration_version where exchange = @exchange and accepted_at is not null",
            row => row.Long("number"),
            cancellationToken,
            ("exchange", exchange)
        )
            is not null;

    public async Task<long> ProposeAsync(ProposedVersion version, CancellationToken cancellationToken)
    {
        var content = Pack(version.Content);
        var (number, newest) = await database.TransactAsync<(long? Number, long? Newest)>(
            async session =>
            {
                await session.ExecuteAsync(
                    "delete from configuration_version where accepted_at is null and proposed_at < clock_timestamp() - @longest",
                    ("longest", LongestProposal)
                );
                var last = await session.FirstAsync<long?>(
                    "select number from configuration_version where accepted_at is not null order by number desc limit 1",
                    row => row.Long("number")
                );
                if (version.BasedOn is { } basis && basis != (last ?? 0))
                    return (0, last);
                var added = await session.ExecuteAsync(
                    Propose,
                    ("number", (last ?? 0) + 1),
                    ("exchange", version.Exchange),
                    ("revision", version.Revision),
                    ("basedOn", last),
                    ("kind", version.Kind),
                    ("changes", version.Changes),
                    ("content", content),
                    ("by", version.Decision.By),
                    ("reason", version.Decision.Reason)
                );
                return (added == 0 ? null : (last ?? 0) + 1, last);
            },
            cancellationToken
        );
        return number switch
        {
            null => throw Refusal("ESB-CONFIG-BUSY", "Another version of the configuration is being put into service. Try again later."),
            0 => throw Refusal(
                "ESB-CONFIG-CONFLICT",
                $"The change was made of version {version.BasedOn}, but version {newest ?? 0} has been put into service since. "
                    + "Look at what it changed, and make the change again."
            ),
            { } proposed => proposed,
        };
    }

    public Task<bool> AcceptAsync(long number, Guid exchange, CancellationToken cancellationToken) =>
        database.TransactAsync(
            async session =>
            {
                var accepted = await session.ExecuteAsync(
                    "update configuration_version set accepted_at = clock_timestamp() where number = @number and exchange = @exchange "
                        + "and accepted_at is null",
                    ("number", number),
                    ("exchange", exchange)
                );
                await session.ExecuteAsync("delete from configuration_version where number <= @last", ("last", number - Kept));
                return accepted == 1;
            },
            cancellationToken
        );

    public Task WithdrawAsync(Guid exchange, CancellationToken cancellationToken) =>
        database.ExecuteAsync(
            "delete from configuration_version where exchange = @exchange and accepted_at is null",
            cancellationToken,
            ("exchange", exchange)
        );

    private static EsbException Refusal(string code, string message) => new(code, message, FaultKind.Unavailable) { Status = 409 };

    private static ConfigurationVersion Read(SqlRow row) =>
        new(
            row.Long("number"),
            row.Text("revision"),
            row.LongOrNull("based_on"),
            row.Text("kind"),
            row.Text("changes"),
            row.Text("made_by"),
            row.Time("at"),
            row.TextOrNull("reason")
        );

    private static StoredConfiguration ReadWhole(SqlRow row) => new(Read(row), Unpack(row.Bytes("content")));

    private static byte[] Pack(ConfigurationContent content)
    {
        using var packed = new MemoryStream();
        using (var zip = new GZipStream(packed, CompressionLevel.Optimal))
            JsonSerializer.Serialize(zip, content, StorageJson.Default.ConfigurationContent);
        return packed.ToArray();
    }

    private static ConfigurationContent Unpack(byte[] packed)
    {
        using var zip = new GZipStream(new MemoryStream(packed), CompressionMode.Decompress);
        return JsonSerializer.Deserialize(zip, StorageJson.Default.ConfigurationContent)!;
    }
}
