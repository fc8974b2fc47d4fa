namespace Esb.Core.Configuration;

/// <summary>A revision of the configuration in this process: its models, and the services that share its lifetime. Several revisions can be
/// alive at once.</summary>
/// <param name="number">Number of the revision in this process, from 1.</param>
/// <param name="services">Services of the revision, and of the process.</param>
public sealed class Revision(int number, IServiceProvider services)
{
    /// <summary>Number of the revision in this process, from 1.</summary>
    public int Number => number;

    /// <summary>Services of the revision, and of the process.</summary>
    public IServiceProvider Services => services;
}

/// <summary>Tracks the active revision. Thread-safe.</summary>
public interface IRevisions
{
    /// <summary>The active revision, on which new work begins.</summary>
    Revision Current { get; }

    /// <summary>Raised after another revision has become active. Handlers must not throw or block.</summary>
    event Action? Exchanged;
}
