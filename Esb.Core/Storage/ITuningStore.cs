namespace Esb.Core.Storage;

/// <summary>Stores the settings that operators tuned. Durable when a call returns. Thread-safe.</summary>
/// <remarks>Hosts that share the store share the settings; otherwise each host has its own.</remarks>
public interface ITuningStore
{
    /// <summary>All tuned settings, by endpoint and setting.</summary>
    /// <exception cref="Errors.EsbException">The store is unreachable or cannot be read.</exception>
    Task<IReadOnlyList<TunedSetting>> ListAsync(CancellationToken cancellationToken);

    /// <summary>Stores settings in place of those before.</summary>
    /// <exception cref="Errors.EsbException">The store is unreachable or cannot be written; none is stored.</exception>
    Task SetAsync(IReadOnlyCollection<TunedSetting> settings, CancellationToken cancellationToken);

    /// <summary>Removes a setting of an endpoint, or all of them; does nothing if absent.</summary>
    /// <exception cref="Errors.EsbException">The store is unreachable or cannot be written.</exception>
    Task RemoveAsync(string endpoint, string? setting, CancellationToken cancellationToken);
}

/// <summary>A copy of the tuned settings in the folder of the host, where the store is shared. Thread-safe.</summary>
public interface ITuningCopy
{
    /// <summary>The settings that were written last; none if there is no copy, or where the store is in the folder of the host.</summary>
    IReadOnlyList<TunedSetting> Read();

    /// <summary>Replaces the copy. Best effort: the store is the record.</summary>
    void Write(IReadOnlyCollection<TunedSetting> settings);
}

/// <summary>A setting that an operator tuned.</summary>
/// <param name="Endpoint">The endpoint.</param>
/// <param name="Setting">The setting, such as <c>poolSize</c>.</param>
/// <param name="Value">Its value as JSON.</param>
/// <param name="Configured">The value that the configuration had at that time, as JSON; null if it had none.</param>
/// <param name="By">The operator.</param>
/// <param name="At">Time of the change.</param>
public sealed record TunedSetting(string Endpoint, string Setting, string Value, string? Configured, string By, DateTimeOffset At);
