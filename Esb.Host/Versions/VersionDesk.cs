using Esb.Core.Errors;
using Esb.Core.Storage;
using Esb.Host.Reloading;

namespace Esb.Host.Versions;

/// <summary>Shows the versions of the configuration, applies a new one, and goes back to an earlier one. Thread-safe.</summary>
internal sealed class VersionDesk(IConfigurationVersions versions, VersionReader reader, ReloadDesk desk)
{
    /// <summary>The versions, newest first.</summary>
    /// <exception cref="EsbException">The store cannot be read.</exception>
    public async Task<VersionList> ListAsync(CancellationToken cancellationToken)
    {
        var running = desk.Running.Number;
        return new VersionList(
            reader.IsStore ? "store" : "files",
            running,
            [.. (await versions.ListAsync(cancellationToken)).Select(version => VersionView.Of(version, running))]
        );
    }

    /// <summary>The version of the store that this host runs; null if it runs files.</summary>
    /// <exception cref="EsbException">The store cannot be read.</exception>
    public async Task<StoredConfiguration?> FindRunningAsync(CancellationToken cancellationToken) =>
        reader.IsStore && desk.Running.Number is { } number ? await versions.FindAsync(number, cancellationToken) : null;

    /// <summary>A version with its content.</summary>
    /// <exception cref="EsbException"><c>ESB-API-NOTFOUND</c>; or the store cannot be read.</exception>
    public async Task<VersionDetail> ShowAsync(long number, CancellationToken cancellationToken)
    {
        var stored = await RequireAsync(number, cancellationToken);
        return new VersionDetail(VersionView.Of(stored.Version, desk.Running.Number), stored.Content.Files, stored.Content.Contents);
    }

    /// <summary>The lines that differ between two versions.</summary>
    /// <inheritdoc cref="ShowAsync"/>
    public async Task<VersionDifference> DiffAsync(long from, long to, CancellationToken cancellationToken)
    {
        var (old, changed) = (await RequireAsync(from, cancellationToken), await RequireAsync(to, cancellationToken));
        return new VersionDifference(from, to, VersionDiff.Lines(old.Content, changed.Content));
    }

    /// <summary>Makes a version of a content, and puts it into service on every host, or on none.</summary>
    /// <exception cref="EsbException"><c>ESB-CONFIG-FILES</c>: files are what hosts run; and as
    /// <see cref="ReloadDesk.ExchangeAsync"/>.</exception>
    /// <inheritdoc cref="ReloadDesk.ExchangeAsync"/>
    public Task<ReloadResult> ApplyAsync(AppliedConfiguration applied, OperatorDecision decision, CancellationToken cancellationToken)
    {
        if (!reader.IsStore)
            throw new EsbException(
                "ESB-CONFIG-FILES",
                "Hosts run the files that they read. Change these and reload, or set management.configuration to store.",
                FaultKind.Malformed
            )
            {
                Status = StatusCodes.Status409Conflict,
            };
        var content = new ConfigurationContent { Files = applied.Files, Contents = applied.Contents };
        return desk.ExchangeAsync(
            new ExchangeOrder(ExchangeOrder.Apply, decision, token => reader.ReadAsync(content, token))
            {
                Means = new ExchangeMeans(applied.Migrate, applied.Force),
                BasedOn = applied.BasedOn,
            },
            cancellationToken
        );
    }

    /// <summary>Puts an earlier version into service again: where versions are what hosts run, as the newest version; otherwise until the
    /// files of the hosts change.</summary>
    /// <exception cref="EsbException"><c>ESB-API-NOTFOUND</c>: there is no such version any more.</exception>
    /// <inheritdoc cref="ReloadDesk.ExchangeAsync"/>
    public async Task<ReloadResult> RollBackAsync(RolledBack back, OperatorDecision decision, CancellationToken cancellationToken)
    {
        var stored = await RequireAsync(back.Number, cancellationToken);
        return await desk.ExchangeAsync(
            new ExchangeOrder(ExchangeOrder.Rollback, decision, token => reader.ReadAsync(stored.Content, token))
            {
                Means = new ExchangeMeans(back.Migrate, back.Force),
            },
            cancellationToken
        );
    }

    private async Task<StoredConfiguration> RequireAsync(long number, CancellationToken cancellationToken) =>
        await versions.FindAsync(number, cancellationToken)
        ?? throw new EsbException("ESB-API-NOTFOUND", $"There is no version {number}; the last 50 are kept.", FaultKind.Malformed)
        {
            Status = StatusCodes.Status404NotFound,
        };
}

/// <summary>A configuration that an operator applies.</summary>
internal sealed record AppliedConfiguration
{
    /// <summary>The text of each JSON file by its name.</summary>
    public IReadOnlyDictionary<string, string> Files { get; init; } = new Dictionary<string, string>();

    /// <summary>The bytes of maps, schemas and other contents, by their relative path; as base64 in JSON.</summary>
    public IReadOnlyDictionary<string, byte[]> Contents { get; init; } = new Dictionary<string, byte[]>();

    /// <summary>The version that it was made of; null if any will do.</summary>
    public long? BasedOn { get; init; }

    /// <summary>Why.</summary>
    public string? Reason { get; init; }

    /// <summary>True to make other queues and tables where it needs them, and to move what waits.</summary>
    public bool Migrate { get; init; }

    /// <summary>True to suspend instances of workflows that could not go on.</summary>
    public bool Force { get; init; }
}

/// <summary>The version that an operator goes back to.</summary>
internal sealed record RolledBack
{
    /// <summary>Its number.</summary>
    public long Number { get; init; }

    /// <summary>Why.</summary>
    public string? Reason { get; init; }

    /// <summary>True to make other queues and tables where it needs them, and to move what waits.</summary>
    public bool Migrate { get; init; }

    /// <summary>True to suspend instances of workflows that could not go on.</summary>
    public bool Force { get; init; }
}

/// <summary>A version in API responses.</summary>
internal sealed record VersionView(
    long Number,
    string Revision,
    bool IsInService,
    long? BasedOn,
    string Kind,
    string By,
    DateTimeOffset At,
    string? Reason,
    IReadOnlyList<string> Changes
)
{
    public static VersionView Of(ConfigurationVersion version, long? running) =>
        new(
            version.Number,
            version.Revision,
            version.Number == running,
            version.BasedOn,
            version.Kind,
            version.By,
            version.At,
            version.Reason,
            version.Changes.Split('\n', StringSplitOptions.RemoveEmptyEntries)
        );
}

/// <summary>The versions that are kept.</summary>
/// <param name="Place">What hosts run: <c>files</c>, or versions in the <c>store</c>.</param>
/// <param name="Running">The number of the version that this host runs; null if it is not kept as one.</param>
/// <param name="Items">The versions, newest first.</param>
internal sealed record VersionList(string Place, long? Running, IReadOnlyList<VersionView> Items);

/// <summary>A version with its content.</summary>
internal sealed record VersionDetail(
    VersionView Version,
    IReadOnlyDictionary<string, string> Files,
    IReadOnlyDictionary<string, byte[]> Contents
);

/// <summary>The lines that differ between two versions.</summary>
internal sealed record VersionDifference(long From, long To, IReadOnlyList<string> Lines);
