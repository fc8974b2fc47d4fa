using Esb.Core.Configuration.Settings;

namespace Esb.Core.Listening;

/// <summary>A part of a configuration that listens on ports of this machine; queried at compile time.</summary>
public interface IListeningPart
{
    /// <summary>Configured places, whether or not they are opened.</summary>
    IEnumerable<ListeningPlace> Places { get; }
}

/// <summary>A configured place to listen on.</summary>
/// <param name="Owner">The listening part, for people: <c>the listener 'public'</c>.</param>
/// <param name="Settings">Its settings.</param>
/// <param name="Property">The property that holds the url.</param>
/// <param name="Url">The url as read.</param>
/// <param name="IsOpened">True if anything is served there, so that the port will be in use.</param>
public sealed record ListeningPlace(string Owner, SettingsRecord Settings, string Property, string Url, bool IsOpened);
