using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Receiving;

/// <summary>Creates message headers from query parameters. Thread-safe.</summary>
/// <param name="parameters">The parameters, by header name. Both are case-insensitive.</param>
internal sealed class QueryParameters(IReadOnlyDictionary<string, string> parameters)
{
    /// <summary>Adds the headers from the query. Removes such headers sent by the caller, even if the query lacks the parameter.</summary>
    /// <exception cref="EsbException"><c>ESB-HTTP-DUPPARAM</c>: a parameter is repeated, and another reader might use another value.
    /// <c>ESB-HDR-VALUE</c>: a value is not one line of text.</exception>
    public MessageHeaders AddTo(MessageHeaders headers, IQueryCollection query)
    {
        foreach (var (header, parameter) in parameters)
        {
            headers = headers.Without(header);
            if (!query.TryGetValue(parameter, out var values))
                continue;
            if (values.Count > 1)
                throw Malformed("ESB-HTTP-DUPPARAM", $"The parameter {parameter} comes {values.Count} times in the query.");
            var value = values.ToString();
            if (!HeaderRules.IsValue(value))
                throw Malformed("ESB-HDR-VALUE", $"The parameter {parameter} of the query has control characters.");
            headers = headers.With(header, value);
        }

        return headers;
    }

    /// <summary>Refuses parameters that cannot become headers.</summary>
    public static void Check(ListeningEndpointConfig settings, ConfigErrors errors)
    {
        foreach (var (header, parameter) in settings.Query)
        {
            if (!HeaderRules.IsName(header))
                Refuse($"'{Shown(header)}' is not the name of a header");
            else if (HeaderRules.IsReserved(header))
                Refuse($"'{Shown(header)}' is reserved for the bus and its broker");
            if (parameter.Length == 0)
                Refuse($"expected the name of a parameter for '{Shown(header)}'");
        }

        foreach (var twins in settings.Query.Keys.GroupBy(name => name, StringComparer.OrdinalIgnoreCase).Where(group => group.Count() > 1))
            Refuse($"'{Shown(twins.First())}' is there twice; case does not matter in names of headers");
        if (settings.Relay is not null && settings.Query.Count > 0)
            errors.Add("ESB-CFG-VALUE", settings, "query", "a relay passes the query on as it is: expected process or publish");

        void Refuse(string expected) => errors.Add("ESB-CFG-HEADER", settings, "query", expected);
    }

    private static string Shown(string name) => Clipped.To(40, Clipped.Name(name));

    private static EsbException Malformed(string code, string detail) => HttpProblems.Of(StatusCodes.Status400BadRequest, code, detail);
}
