using Esb.Content.Transforms;
using Esb.Content.Watching;
using Esb.Core.Configuration;
using Esb.Core.Messages;
using Microsoft.Extensions.Logging;

namespace Esb.Content.Schemas;

/// <summary>A schema that follows its files: a sound change takes its place between two messages, a broken one leaves it as it
/// is.</summary>
/// <remarks>Thread-safe, except that one thread at a time looks at the files.</remarks>
/// <param name="model">The schema as it was compiled with the configuration.</param>
/// <param name="logger">Logs every change.</param>
internal sealed partial class LiveSchema(SchemaModel model, ILogger logger) : IMessageSchema, ILiveContent
{
    private SchemaModel _current = model;
    private string _taken = model.Stamp;
    private string _seen = model.Stamp;

    public string Kind => "schema";

    public string Name => _current.Schema.Name;

    /// <summary>Why a change was refused; null when what runs is what the files say.</summary>
    public string? Problem { get; private set; }

    public ValueTypes Types => Volatile.Read(ref _current).Schema.Types;

    public void Validate(EsbMessage message) => Volatile.Read(ref _current).Schema.Validate(message);

    /// <summary>Looks at the files. A change is taken when two looks in a row found the same, so that nothing half written is read; while
    /// there is a problem, every look tries again.</summary>
    /// <remarks>Throws nothing: this is the outermost handler of one schema. An unforeseen error refuses the change like any
    /// other.</remarks>
    public void Look()
    {
        try
        {
            Renew();
        }
        catch (Exception ex)
        {
            Refuse($"the compiler failed with {ex.GetType().Name}: {ex.Message}", ex);
        }
    }

    private void Renew()
    {
        var stamp = ContentStamp.Of(_current.Paths);
        var isQuiet = stamp == _seen;
        _seen = stamp;
        if (!isQuiet || (stamp == _taken && Problem is null))
            return;
        _taken = stamp;
        var errors = new ConfigErrors();
        if (_current.Recompile(errors) is { } changed)
            Take(changed);
        else
            Refuse(errors.All.Select(error => $"{error.Code} {error.Expected}").FirstOrDefault() ?? "it cannot be read");
    }

    private void Take(SchemaModel changed)
    {
        if (changed.ContentHash != _current.ContentHash)
            LogChanged(Name, changed.ContentHash[..12]);
        Volatile.Write(ref _current, changed);
        _taken = _seen = changed.Stamp;
        Problem = null;
    }

    private void Refuse(string problem, Exception? unforeseen = null)
    {
        if (Problem == problem)
            return;
        Problem = problem;
        LogRefused(Name, problem, unforeseen);
    }

    [LoggerMessage(
        EventId = 1411,
        Level = LogLevel.Information,
        Message = "Schema {Schema} has changed and is in use as of now, revision {Revision}"
    )]
    private partial void LogChanged(string schema, string revision);

    [LoggerMessage(
        EventId = 1412,
        Level = LogLevel.Error,
        Message = "ESB-CFG-RELOAD schema {Schema} has changed and cannot be used; the previous one stays in use: {Problem}"
    )]
    private partial void LogRefused(string schema, string problem, Exception? unforeseen);
}
