using Esb.Content.Transforms;
using Esb.Content.Watching;
using Microsoft.Extensions.Logging;

namespace Esb.Content.Lookups;

/// <summary>Keeps a look-up as its file is: a sound change takes effect between two searches, a broken one leaves the entries as they
/// are.</summary>
/// <remarks>One thread at a time looks at the file.</remarks>
/// <param name="lookup">The look-up.</param>
/// <param name="logger">Logs every change.</param>
internal sealed partial class LiveLookup(FileLookup lookup, ILogger logger) : ILiveContent
{
    private string _taken = lookup.Content.Stamp;
    private string _seen = lookup.Content.Stamp;

    public string Kind => "look-up";

    public string Name => lookup.Name;

    public string? Problem { get; private set; }

    /// <summary>Looks at the file. A change is taken when two looks in a row found the same, so that nothing half written is read; while
    /// there is a problem, every look tries again.</summary>
    /// <remarks>Throws nothing: this is the outermost handler of one look-up.</remarks>
    public void Look()
    {
        try
        {
            Renew();
        }
        catch (Exception ex)
        {
            Refuse(ex is LookupFileException ? ex.Message : $"it cannot be read: {ex.Message}");
        }
    }

    private void Renew()
    {
        var stamp = ContentStamp.Of([lookup.Path]);
        var isQuiet = stamp == _seen;
        _seen = stamp;
        if (!isQuiet || (stamp == _taken && Problem is null))
            return;
        _taken = stamp;
        var content = lookup.Read();
        if (content.ContentHash != lookup.Content.ContentHash)
            LogChanged(Name, content.Table.Entries.Count);
        lookup.Content = content;
        _taken = _seen = content.Stamp;
        Problem = null;
    }

    private void Refuse(string problem)
    {
        if (Problem == problem)
            return;
        Problem = problem;
        LogRefused(Name, problem);
    }

    [LoggerMessage(
        EventId = 1421,
        Level = LogLevel.Information,
        Message = "Look-up {Lookup} has changed and is in use as of now, with {Entries} entries"
    )]
    private partial void LogChanged(string lookup, int entries);

    [LoggerMessage(
        EventId = 1422,
        Level = LogLevel.Error,
        Message = "ESB-CFG-RELOAD look-up {Lookup} has changed and cannot be used; the previous entries stay in use: {Problem}"
    )]
    private partial void LogRefused(string lookup, string problem);
}
