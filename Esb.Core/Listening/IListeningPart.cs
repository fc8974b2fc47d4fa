using Esb.Core.Configuration.Settings;

namespace Esb.Core.Listening;

/// <summary>A part of a configuration that has the bus listen at ports of this machine; asked while it is compiled.</summary>
public interface IListeningPart
{
    /// <summary>What is configured, whether or not it is opened.</summary>
    IEnumerable<ListeningPlace> Places { get; }
}

/// <summary>A configured place to listen at.</summary>
/// <param name="Owner">Who listens, for people: <c>the listener 'public'</c>.</param>
/// <param name="Settings">Where it is configured.</param>
/// <param name="Property">The property that holds the url.</param>
/// <param name="Url">The url as it was read.</param>
/// <param name="IsOpened">Whether anything is served there, so that the port will be taken.</param>
public sealed record ListeningPlace(string Owner, SettingsRecord Settings, string Property, string Url, bool IsOpened);
