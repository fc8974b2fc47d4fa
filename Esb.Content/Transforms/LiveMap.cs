using Esb.Content.Lookups;
using Esb.Content.Watching;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Microsoft.Extensions.Logging;

namespace Esb.Content.Transforms;

/// <summary>A map that follows its files: a sound change takes its place between two runs, a broken one leaves it as it is.</summary>
/// <remarks>Thread-safe, except that one thread at a time looks at the files.</remarks>
/// <param name="model">The map as it was compiled with the configuration.</param>
/// <param name="logger">Logs every change.</param>
/// <param name="lookups">The look-ups that it may use; null for none.</param>
internal sealed partial class LiveMap(MapModel model, ILogger logger, MapLookups? lookups = null) : IScriptMap, ILiveContent
{
    private readonly string _folder = Path.GetDirectoryName(model.Path)!;
    private IMessageMap _current = model.Map;
    private string _running = model.Files.ContentHash;
    private IReadOnlyList<string> _paths = model.Files.Paths;
    private string _taken = model.Files.Stamp;
    private string _seen = model.Files.Stamp;

    public string Kind => "map";

    public string Name => _current.Name;

    public IReadOnlyList<MapParameter> Parameters { get; } = model.Map.Parameters;

    public bool TakesAnyArgument => Volatile.Read(ref _current).TakesAnyArgument;

    public MadeKind? Makes => Volatile.Read(ref _current).Makes;

    public MadeKind? Reads => Volatile.Read(ref _current).Reads;

    /// <summary>Why a change was refused; null when what runs is what the files say.</summary>
    public string? Problem { get; private set; }

    public MappedBody Transform(MessageBody input, params ReadOnlySpan<MapArgument> arguments) =>
        Volatile.Read(ref _current).Transform(input, arguments);

    public MappedBody Transform(MapCall call, params ReadOnlySpan<MapArgument> arguments) =>
        Volatile.Read(ref _current).Transform(Equip(call), arguments);

    /// <exception cref="InvalidCastException">The map is no script; the configuration was not checked.</exception>
    public MessageChanges Change(MapCall call, params ReadOnlySpan<MapArgument> arguments) =>
        ((IScriptMap)Volatile.Read(ref _current)).Change(Equip(call), arguments);

    public ValueTask<MappedBody> TransformAsync(MapCall call, MapArgument[] arguments, CancellationToken cancellationToken)
    {
        var current = Volatile.Read(ref _current);
        return RunAsync(call, equipped => current.Transform(equipped, arguments), cancellationToken);
    }

    /// <exception cref="InvalidCastException">The map is no script; the configuration was not checked.</exception>
    public ValueTask<MessageChanges> ChangeAsync(MapCall call, MapArgument[] arguments, CancellationToken cancellationToken)
    {
        var current = (IScriptMap)Volatile.Read(ref _current);
        return RunAsync(call, equipped => current.Change(equipped, arguments), cancellationToken);
    }

    /// <summary>Looks at the files. A change is taken when two looks in a row found the same, so that nothing half written is read; while
    /// there is a problem, every look tries again.</summary>
    /// <remarks>
    /// Throws nothing: this is the outermost handler of one map, whose compiler is third-party code. An unforeseen error refuses the change
    /// like any other, is logged once with its stack, and leaves the other maps as they are.
    /// </remarks>
    public void Look()
    {
        try
        {
            Renew();
        }
        catch (MapFileException ex)
        {
            Refuse($"{ex.Code}, {Where(ex)}: {ex.Message}");
        }
        catch (Exception ex) when (ex is IOException or UnauthorizedAccessException)
        {
            Refuse($"it cannot be read: {ex.Message}");
        }
        catch (Exception ex)
        {
            Refuse($"the compiler failed with {ex.GetType().Name}: {ex.Message}", ex);
        }
    }

    private MapCall Equip(MapCall call) => call with { Log = LogLine, Lookup = lookups?.Find };

    private ValueTask<T> RunAsync<T>(MapCall call, Func<MapCall, T> run, CancellationToken cancellationToken) =>
        lookups is null ? ValueTask.FromResult(run(Equip(call))) : lookups.RunAsync(Equip(call), run, cancellationToken);

    private void Renew()
    {
        var stamp = ContentStamp.Of(_paths);
        var isQuiet = stamp == _seen;
        _seen = stamp;
        if (!isQuiet || (stamp == _taken && Problem is null))
            return;
        _taken = stamp;
        Take(model.Read());
    }

    private void Take(IMapSource files)
    {
        if (files.ContentHash != _running)
        {
            if (Conflict(files.Parameters) is { } conflict)
            {
                Refuse(conflict);
                return;
            }

            Volatile.Write(ref _current, model.Recompile(files));
            _running = files.ContentHash;
            LogChanged(Name, files.ContentHash[..12]);
        }

        _paths = files.Paths;
        _taken = _seen = files.Stamp;
        Problem = null;
    }

    // The steps were checked against the parameters that they knew.
    private string? Conflict(IReadOnlyList<MapParameter> parameters)
    {
        if (Parameters.FirstOrDefault(known => parameters.All(other => other.Name != known.Name)) is { } gone)
            return $"it has no parameter '{gone.Name}' any more; that needs a restart";
        return parameters.FirstOrDefault(parameter => parameter.IsRequired && !Parameters.Contains(parameter)) is { } added
            ? $"it needs the parameter '{added.Name}' now; that needs a restart"
            : null;
    }

    private void Refuse(string problem, Exception? unforeseen = null)
    {
        if (Problem == problem)
            return;
        Problem = problem;
        LogRefused(Name, problem, unforeseen);
    }

    private string Where(MapFileException error)
    {
        var file = Uri.TryCreate(error.Uri, UriKind.Absolute, out var uri) && uri.IsFile ? uri.LocalPath : model.Path;
        return $"{Path.GetRelativePath(_folder, file)}, line {error.Line}, column {error.Column}";
    }

    private void LogLine(string line) => LogLine(Name, line);

    [LoggerMessage(EventId = 1403, Level = LogLevel.Information, Message = "map {Map}: {Line}")]
    private partial void LogLine(string map, string line);

    [LoggerMessage(
        EventId = 1401,
        Level = LogLevel.Information,
        Message = "map {Map} has changed and is in use as of now, revision {Revision}"
    )]
    private partial void LogChanged(string map, string revision);

    [LoggerMessage(
        EventId = 1402,
        Level = LogLevel.Error,
        Message = "ESB-CFG-RELOAD map {Map} has changed and cannot be used; the previous one stays in use: {Problem}"
    )]
    private partial void LogRefused(string map, string problem, Exception? unforeseen);
}
