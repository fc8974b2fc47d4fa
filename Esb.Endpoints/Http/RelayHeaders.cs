using Esb.Core.Messages;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Primitives;

namespace Esb.Endpoints.Http;

/// <summary>Which headers a relay passes on: all that are meant for the other end, unless the endpoint names some; never reserved ones. Thread-safe.</summary>
internal sealed class RelayHeaders(HttpInboundConfig config)
{
    // The default of endpoints is meant for messages; a relay has a list only where somebody wrote one.
    private readonly HeaderRules? _rules = ReferenceEquals(config.Headers, HeaderRules.DefaultPatterns) ? null : new HeaderRules(config.Headers);

    public void CopyTo(HttpRequestMessage request, IHeaderDictionary headers)
    {
        var connection = headers.Connection;
        foreach (var (name, values) in headers)
        {
            if (!Passes(name, connection)) continue;
            if (values.Count == 1 ? request.Headers.TryAddWithoutValidation(name, values[0]) : request.Headers.TryAddWithoutValidation(name, (IEnumerable<string?>)values)) continue;
            request.Content?.Headers.TryAddWithoutValidation(name, (IEnumerable<string?>)values);
        }
    }

    public void CopyTo(HttpResponse answer, HttpResponseMessage response)
    {
        var connection = new StringValues([.. response.Headers.Connection]);
        foreach (var (name, values) in response.Headers.NonValidated) Copy(answer, name, values, connection);
        foreach (var (name, values) in response.Content.Headers.NonValidated) Copy(answer, name, values, connection);
    }

    private void Copy(HttpResponse answer, string name, System.Net.Http.Headers.HeaderStringValues values, StringValues connection)
    {
        if (Passes(name, connection)) answer.Headers[name] = values.Count == 1 ? values.ToString() : new StringValues([.. values]);
    }

    // The content type belongs to the body and passes always.
    private bool Passes(string name, StringValues connection) =>
        !HttpFields.EndsHere(name, connection)
        && !HeaderRules.IsReserved(name)
        && (_rules is null || _rules.Allows(name) || name.Equals("Content-Type", StringComparison.OrdinalIgnoreCase));
}
