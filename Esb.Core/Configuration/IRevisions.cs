namespace Esb.Core.Configuration;

/// <summary>A revision of the configuration in this process: its models, and the services that live as long as it does. Several can be
/// alive at once.</summary>
/// <param name="number">Counts the revisions of this process, from 1.</param>
/// <param name="services">Its services, and those of the process.</param>
public sealed class Revision(int number, IServiceProvider services)
{
    /// <summary>Counts the revisions of this process, from 1.</summary>
    public int Number => number;

    /// <summary>Its services, and those of the process.</summary>
    public IServiceProvider Services => services;
}

/// <summary>Knows which revision is in service. Thread-safe.</summary>
public interface IRevisions
{
    /// <summary>What begins now, begins on this one.</summary>
    Revision Current { get; }

    /// <summary>Is raised once another revision is in service. Handlers do not throw, and do not wait.</summary>
    event Action? Exchanged;
}
