using System.Text.RegularExpressions;
using Esb.Content.Transforms.Documents;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Jint;
using Jint.Native;
using Jint.Native.Function;
using Jint.Runtime;
using AstModule = Acornima.Ast.Module;

namespace Esb.Content.Transforms.Scripts;

/// <summary>A map in JavaScript: <c>export default (input, context) => …</c>. Thread-safe: each run has an engine of its own.</summary>
internal sealed partial class ScriptMap : IScriptMap
{
    private const int LongestText = 300;

    private readonly MapSettings _settings;
    private readonly DocumentInput _documents;
    private readonly TimeProvider _time;
    private readonly Options _options;
    private readonly Prepared<AstModule> _module;
    private readonly ScriptResult _result;
    private readonly string _file;

    /// <exception cref="MapFileException"><c>ESB-JS-COMPILE</c>: the module has an error, or fails while it is loaded.</exception>
    public ScriptMap(MapSettings settings, MapText file, DocumentInput documents, TimeProvider time)
    {
        _settings = settings;
        _documents = documents;
        _time = time;
        _file = Path.GetFileName(file.Path);
        _options = ScriptRealm.OptionsFor(settings.Limits, time);
        _module = ScriptCompiler.Compile(file, settings.Limits.Time);
        _result = new ScriptResult(settings);
        Try(file);
    }

    public string Name => _settings.Name;

    public IReadOnlyList<MapParameter> Parameters => [];

    public bool TakesAnyArgument => true;

    public MadeKind? Makes => null;

    public MadeKind? Reads => null;

    public MappedBody Transform(MessageBody input, params ReadOnlySpan<MapArgument> arguments) =>
        Transform(new MapCall(new MessageContext(EsbMessage.Create(input, _time), "")), arguments);

    public MappedBody Transform(MapCall call, params ReadOnlySpan<MapArgument> arguments) => Run(call, arguments, _result.BodyOf);

    public MessageChanges Change(MapCall call, params ReadOnlySpan<MapArgument> arguments) => Run(call, arguments, _result.ChangesOf);

    private T Run<T>(MapCall call, ReadOnlySpan<MapArgument> arguments, Func<JsValue, T> take)
    {
        var document = _documents.Read(call.Context.Message);
        var engine = ScriptRealm.Create(_options, out var budget);
        var input = ScriptValues.Of(engine, document);
        var context = new ScriptContext(engine, call, _documents).Build(arguments);
        try
        {
            budget.Begin(); // after the input, whose size is limited elsewhere
            // getters of the result run within the budget, too
            return take(engine.Invoke(Load(engine), JsValue.Undefined, [input, context]));
        }
        catch (ScriptResultException ex)
        {
            throw new EsbException("ESB-JS-RESULT", $"The map {Name} cannot be used: its result {ex.Message}.", FaultKind.Internal, ex);
        }
        catch (Exception ex) when (LimitOf(ex, budget) is { } limit)
        {
            throw new EsbException("ESB-JS-LIMIT", $"The map {Name} was ended: {limit}.", FaultKind.Internal, ex);
        }
        catch (Exception ex) when (ex is JintException or InvalidOperationException or NotSupportedException or ArgumentException)
        {
            throw new EsbException(
                "ESB-JS-ERROR",
                $"The map {Name} failed{PlaceOf(ex)}: {MaskedFlow.Excerpt(ex.Message.TrimEnd('.'), LongestText)}.",
                FaultKind.Internal,
                ex
            );
        }
    }

    private JsValue Load(Engine engine)
    {
        engine.Modules.Add(_file, builder => builder.AddModule(_module));
        return engine.Modules.Import(_file).Get("default");
    }

    // What fails at every message is better known before the first.
    private void Try(MapText file)
    {
        var engine = ScriptRealm.Create(_options, out var budget);
        try
        {
            budget.Begin();
            if (Load(engine) is not Function)
                throw new MapFileException(
                    ScriptCompiler.Code,
                    "the default export is not a function: expected export default (input, context) => …",
                    ScriptCompiler.UriOf(file),
                    1,
                    1
                );
        }
        catch (JavaScriptException ex)
        {
            throw ScriptCompiler.Problem(file, ex.Location.Start, ex.Message.TrimEnd('.'));
        }
        catch (Exception ex) when (ex is not MapFileException && (LimitOf(ex, budget) ?? ex.Message) is var problem)
        {
            throw new MapFileException(
                ScriptCompiler.Code,
                $"the module cannot be loaded: {problem.TrimEnd('.')}",
                ScriptCompiler.UriOf(file),
                1,
                1
            );
        }
    }

    private string? LimitOf(Exception error, ScriptBudget budget) =>
        error switch
        {
            ScriptLimitException => error.Message,
            RecursionDepthOverflowException => $"a function called itself more than {_settings.Limits.Depth} levels deep",
            RegexMatchTimeoutException or TimeoutException => budget.TooLong().Message,
            OutOfMemoryException => "it needs more memory than the host has",
            InsufficientExecutionStackException => "it recurses too deep",
            JavaScriptException { Message: var message }
                when message.StartsWith("Maximum call stack size exceeded", StringComparison.Ordinal) => "it recurses too deep",
            _ => null,
        };

    // What the engine itself refuses has its place in the stack trace alone.
    private static string PlaceOf(Exception error)
    {
        if (error is not JavaScriptException script)
            return "";
        if (script.Location.Start is { Line: > 0 } place)
            return $" at line {place.Line}, column {place.Column + 1}";
        return PlaceInTrace().Match(script.JavaScriptStackTrace ?? "") is { Success: true } found
            ? $" at line {found.Groups[1]}, column {found.Groups[2]}"
            : "";
    }

    [GeneratedRegex(":([0-9]{1,9}):([0-9]{1,9})")]
    private static partial Regex PlaceInTrace();
}
