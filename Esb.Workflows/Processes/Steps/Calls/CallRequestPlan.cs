using Esb.Configuration;
using Esb.Content.Expressions;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Steps;

/// <summary>The request of a call: path, query, method and headers as the step demands them. Immutable and thread-safe.</summary>
internal sealed class CallRequestPlan
{
    private static readonly string[] OfTheConnection =
    [
        "Host",
        "Connection",
        "Content-Length",
        "Content-Type",
        "Transfer-Encoding",
        "TE",
        "Trailer",
        "Upgrade",
        "Expect",
        "Keep-Alive",
        "Via",
        "traceparent",
        "tracestate",
        "baggage",
    ];

    private readonly CallConfig _settings;
    private readonly UrlPathTemplate? _path;
    private readonly IMessageValue? _method;
    private readonly (string Name, IMessageValue Value)[] _query;
    private readonly (string Name, IMessageValue Value)[] _headers;

    private CallRequestPlan(
        CallConfig settings,
        UrlPathTemplate? path,
        IMessageValue? method,
        (string, IMessageValue)[] query,
        (string, IMessageValue)[] headers
    ) => (_settings, _path, _method, _query, _headers) = (settings, path, method, query, headers);

    /// <summary>Compiles the request; null after an error was reported, and if the step demands nothing.</summary>
    public static CallRequestPlan? Compile(CallConfig settings, IStepCompiler compiler)
    {
        var errors = compiler.Errors;
        Check(settings, errors);
        var path = settings.RequestPath is { } template
            ? UrlPathTemplate.Compile(template, settings.Endpoint, settings, "path", compiler.Expressions, errors)
            : null;
        var method = settings.Method is { } named ? compiler.Expressions.Compile(named, errors) : null;
        var query = Compile(settings.Query, compiler);
        var headers = Compile(HeadersOf(settings), compiler);
        return path is null && method is null && query.Length == 0 && headers.Length == 0
            ? null
            : new CallRequestPlan(settings, path, method, query, headers);
    }

    /// <summary>The values that the request reads.</summary>
    public static IEnumerable<IValueSource> ValuesOf(CallConfig settings) =>
        [.. settings.Query.Values, .. HeadersOf(settings).Values, .. settings.Method is { } method ? new[] { method } : []];

    /// <summary>True if the step demands anything of the request.</summary>
    public static bool IsAsked(CallConfig settings) =>
        settings.RequestPath is not null || settings.Method is not null || settings.Query.Count > 0 || HeadersOf(settings).Count > 0;

    /// <summary>Returns the request for a message.</summary>
    /// <exception cref="EsbException"><c>ESB-HTTP-PATH</c>, <c>ESB-CALL-METHOD</c>, <c>ESB-HDR-VALUE</c>: the message has no such
    /// path, method or header.</exception>
    public CallRequest Of(MessageContext context) =>
        new()
        {
            Path = _path?.Evaluate(context),
            Method = _method is null ? null : MethodOf(MessageValues.AsText(_method.Evaluate(context))),
            Query = Array.ConvertAll(
                _query,
                parameter => KeyValuePair.Create(parameter.Name, MessageValues.AsText(parameter.Value.Evaluate(context)))
            ),
            Headers = [.. HeadersOf(context)],
        };

    private IEnumerable<KeyValuePair<string, string>> HeadersOf(MessageContext context)
    {
        foreach (var (name, value) in _headers)
        {
            if (MessageValues.AsText(value.Evaluate(context)) is not { } text)
                continue;
            if (!HeaderRules.IsValue(text))
                throw new EsbException("ESB-HDR-VALUE", $"The value for the header '{name}' has control characters.", FaultKind.Invalid);
            yield return new(name, text);
        }
    }

    private string MethodOf(string? text) =>
        text is not null && CallRequest.Methods.Contains(text)
            ? text
            : throw new EsbException(
                "ESB-CALL-METHOD",
                $"The message names no method of HTTP for the endpoint '{_settings.Endpoint}'.",
                FaultKind.Invalid
            );

    private static IReadOnlyDictionary<string, ValueConfig> HeadersOf(CallConfig settings) =>
        settings.Headers?.Values ?? new Dictionary<string, ValueConfig>();

    private static (string Name, IMessageValue Value)[] Compile(IReadOnlyDictionary<string, ValueConfig> values, IStepCompiler compiler) =>
        [
            .. values
                .Select(value => (value.Key, Value: compiler.Expressions.Compile(value.Value, compiler.Errors)))
                .Where(value => value.Value is not null)
                .Select(value => (value.Key, value.Value!)),
        ];

    private static void Check(CallConfig settings, ConfigErrors errors)
    {
        if (settings.Method is { Value: { } constant } && !CallRequest.Methods.Contains(constant.Text))
            errors.Add(
                "ESB-CFG-VALUE",
                settings,
                "method",
                $"expected one of {string.Join(", ", CallRequest.Methods)}{NearestName.Hint(constant.Text, CallRequest.Methods)}"
            );
        if (settings.Query.ContainsKey(""))
            errors.Add("ESB-CFG-VALUE", settings, "query", "expected a name for each parameter");
        HeaderNames.Check(HeadersOf(settings).Keys, $"{settings.Path}.headers", settings.Origin, errors);
        foreach (var name in HeadersOf(settings).Keys.Where(name => OfTheConnection.Contains(name, StringComparer.OrdinalIgnoreCase)))
            errors.Add(
                "ESB-CFG-HEADER",
                ConfigNode.Join($"{settings.Path}.headers", name),
                "is written by the bus itself: it says how the body is sent, or belongs to the connection or the trace",
                settings.Origin
            );
    }
}
