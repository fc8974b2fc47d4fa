namespace Esb.Core.Storage;

/// <summary>Keeps the last 50 versions of the configuration. Durable when a call returns. Thread-safe.</summary>
/// <remarks>Hosts that share the store share the versions, and their decision to run one; otherwise each host has its own.</remarks>
public interface IConfigurationVersions
{
    /// <summary>The accepted versions without their content, newest first.</summary>
    /// <exception cref="Errors.EsbException">The store is unreachable or cannot be read.</exception>
    Task<IReadOnlyList<ConfigurationVersion>> ListAsync(CancellationToken cancellationToken);

    /// <summary>The newest accepted version; null if there is none.</summary>
    /// <exception cref="Errors.EsbException">The store is unreachable or cannot be read.</exception>
    Task<ConfigurationVersion?> FindNewestAsync(CancellationToken cancellationToken);

    /// <summary>A version, accepted or proposed, with its content; null if it does not exist, or not any more.</summary>
    /// <exception cref="Errors.EsbException">The store is unreachable or cannot be read.</exception>
    Task<StoredConfiguration?> FindAsync(long number, CancellationToken cancellationToken);

    /// <summary>The newest version of a revision, accepted or proposed, with its content; null if there is none.</summary>
    /// <exception cref="Errors.EsbException">The store is unreachable or cannot be read.</exception>
    Task<StoredConfiguration?> FindAsync(string revision, CancellationToken cancellationToken);

    /// <summary>True if the version that an exchange proposed has been accepted.</summary>
    /// <exception cref="Errors.EsbException">The store is unreachable or cannot be read.</exception>
    Task<bool> IsAcceptedAsync(Guid exchange, CancellationToken cancellationToken);

    /// <summary>Keeps a version that is not accepted yet. A proposal that was not accepted within two minutes is forgotten.</summary>
    /// <returns>Its number: one more than the newest accepted one.</returns>
    /// <exception cref="Errors.EsbException"><c>ESB-CONFIG-CONFLICT</c>: another version than <see cref="ProposedVersion.BasedOn"/> has
    /// been accepted; <c>ESB-CONFIG-BUSY</c>: another version is proposed; or the store is unreachable or cannot be written.</exception>
    Task<long> ProposeAsync(ProposedVersion version, CancellationToken cancellationToken);

    /// <summary>Accepts a proposed version: the decision that all hosts run it. Versions beyond the last 50 are removed.</summary>
    /// <returns>False if it is not proposed any more.</returns>
    /// <exception cref="Errors.EsbException">The store is unreachable or cannot be written.</exception>
    Task<bool> AcceptAsync(long number, Guid exchange, CancellationToken cancellationToken);

    /// <summary>Forgets a proposed version; does nothing if it has been accepted.</summary>
    /// <exception cref="Errors.EsbException">The store is unreachable or cannot be written.</exception>
    Task WithdrawAsync(Guid exchange, CancellationToken cancellationToken);
}

/// <summary>A version of the configuration.</summary>
/// <param name="Number">Its number, from 1 in each store.</param>
/// <param name="Revision">The name of its content: equal configurations have equal revisions.</param>
/// <param name="BasedOn">The number of the version before; null for the first.</param>
/// <param name="Kind">How it came: <c>start</c>, <c>reload</c>, <c>apply</c>, <c>rollback</c> or <c>automatic rollback</c>.</param>
/// <param name="Changes">The changes, one line each.</param>
/// <param name="By">The operator.</param>
/// <param name="At">Time of its acceptance.</param>
/// <param name="Reason">The operator's reason; null if none was given.</param>
public sealed record ConfigurationVersion(
    long Number,
    string Revision,
    long? BasedOn,
    string Kind,
    string Changes,
    string By,
    DateTimeOffset At,
    string? Reason
);

/// <summary>A version with its content.</summary>
/// <param name="Version">The version.</param>
/// <param name="Content">What it says.</param>
public sealed record StoredConfiguration(ConfigurationVersion Version, ConfigurationContent Content);

/// <summary>The files of a configuration as they are written. References, such as <c>${env:NAME}</c>, stay references.</summary>
public sealed record ConfigurationContent
{
    /// <summary>The text of each JSON file by its name, such as <c>esb.json</c> or <c>environments/test.json</c>.</summary>
    public IReadOnlyDictionary<string, string> Files { get; init; } = new Dictionary<string, string>();

    /// <summary>The bytes of maps, schemas and other files that are part of the configuration, by their path relative to it, such as
    /// <c>maps/order.xslt</c>.</summary>
    public IReadOnlyDictionary<string, byte[]> Contents { get; init; } = new Dictionary<string, byte[]>();
}

/// <summary>A version that has not been accepted yet.</summary>
/// <param name="Exchange">The exchange that proposes it.</param>
/// <param name="Revision">The name of its content.</param>
/// <param name="BasedOn">The accepted version that it was made of; null if any will do.</param>
/// <param name="Kind">As <see cref="ConfigurationVersion.Kind"/>.</param>
/// <param name="Changes">The changes, one line each.</param>
/// <param name="Decision">The operator and the reason.</param>
/// <param name="Content">What it says.</param>
public sealed record ProposedVersion(
    Guid Exchange,
    string Revision,
    long? BasedOn,
    string Kind,
    string Changes,
    OperatorDecision Decision,
    ConfigurationContent Content
);
