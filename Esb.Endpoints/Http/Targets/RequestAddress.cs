using System.Text;
using Esb.Content.Expressions;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Endpoints.Http.Sending;

namespace Esb.Endpoints.Http.Targets;

/// <summary>The address of each request of an http-outbound endpoint: scheme, host and the beginning of the path from the configuration,
/// the rest from the message or from the call. Immutable and thread-safe.</summary>
internal sealed class RequestAddress
{
    private static readonly UriCreationOptions AsWritten = new() { DangerousDisablePathAndQueryCanonicalization = true };

    private readonly string _endpoint;
    private readonly UrlPathTemplate? _path;
    private readonly (string Name, IMessageValue Value)[] _query;

    private RequestAddress(string endpoint, UrlPathTemplate? path, (string Name, IMessageValue Value)[] query)
    {
        _endpoint = endpoint;
        _path = path;
        _query = query;
        ReadsBody = path?.ReadsBody == true || Array.Exists(query, parameter => parameter.Value.ReadsBody);
    }

    /// <summary>True if a value reads the body, which must then be buffered.</summary>
    public bool ReadsBody { get; }

    /// <summary>The address of an endpoint without a path and a query of its own.</summary>
    public static RequestAddress AtUrl(string endpoint) => new(endpoint, path: null, query: []);

    /// <summary>Compiles the path and the query of an endpoint; null after an error was reported.</summary>
    public static RequestAddress? Compile(HttpOutboundConfig settings, IExpressionCompiler compiler, ConfigErrors errors)
    {
        var path = settings.RequestPath is { } template
            ? UrlPathTemplate.Compile(template, settings.Name, settings, "path", compiler, errors)
            : null;
        var query = settings.Query.Select(parameter => (parameter.Key, Value: compiler.Compile(parameter.Value, errors))).ToArray();
        if (settings.Query.ContainsKey(""))
            errors.Add("ESB-CFG-VALUE", settings, "query", "expected a name for each parameter");
        var isSound =
            (path is not null || settings.RequestPath is null) && Array.TrueForAll(query, parameter => parameter.Value is not null);
        return isSound
            ? new RequestAddress(settings.Name, path, Array.ConvertAll(query, parameter => (parameter.Key, parameter.Value!)))
            : null;
    }

    /// <summary>Returns the address of the request for a message.</summary>
    /// <exception cref="EsbException"><c>ESB-HTTP-PATH</c>: the message has no such path, or path and query are too long.</exception>
    public Uri Of(HttpDestination destination, EsbMessage message)
    {
        var call = message.Request;
        if (_path is null && _query.Length == 0 && call is not { Path: not null } and not { Query.Count: > 0 })
            return destination.Url;

        var context = new MessageContext(message, _endpoint);
        var path = call?.Path ?? _path?.Evaluate(context);
        var address = new StringBuilder(destination.Authority)
            .Append(path is null ? destination.Url.AbsolutePath : destination.Url.AbsolutePath.TrimEnd('/'))
            .Append(path);
        var separator = '?';
        if (destination.Url.Query.Length > 1)
        {
            address.Append(destination.Url.Query);
            separator = '&';
        }

        foreach (var (name, value) in QueryOf(context, call))
        {
            if (value is null)
                continue;
            address.Append(separator).Append(Uri.EscapeDataString(name)).Append('=').Append(Uri.EscapeDataString(value));
            separator = '&';
        }

        if (address.Length - destination.Authority.Length > UrlPathTemplate.MaxLength)
            throw new EsbException(
                UrlPathTemplate.Code,
                $"Path and query of the request to the endpoint '{_endpoint}' are longer than {UrlPathTemplate.MaxLength} characters.",
                FaultKind.Invalid
            );
        return new Uri(address.ToString(), AsWritten);
    }

    private IEnumerable<KeyValuePair<string, string?>> QueryOf(MessageContext context, CallRequest? call)
    {
        foreach (var (name, value) in _query)
        {
            if (call?.Query.Any(parameter => parameter.Key == name) != true)
                yield return new(name, MessageValues.AsText(value.Evaluate(context)));
        }

        foreach (var parameter in call?.Query ?? [])
            yield return parameter;
    }
}
