using System.Text.Json;
using System.Text.Json.Serialization;
using Esb.Core.Errors;

namespace Esb.Host.Management;

/// <summary>Reads the JSON body of a request; unknown or invalid members are refused, never ignored.</summary>
internal static class JsonBody
{
    private static readonly JsonSerializerOptions Options = MakeOptions();

    /// <summary>Reads the body; an empty body counts as an empty object.</summary>
    /// <exception cref="EsbException"><c>ESB-API-BODY</c>.</exception>
    public static async Task<T> ReadAsync<T>(HttpRequest request, CancellationToken cancellationToken)
        where T : new()
    {
        using var body = new MemoryStream();
        await request.Body.CopyToAsync(body, cancellationToken);
        if (body.Length == 0)
            return new T();
        if (!request.HasJsonContentType())
            throw Refused("Expected a body of application/json.", StatusCodes.Status415UnsupportedMediaType);
        try
        {
            return JsonSerializer.Deserialize<T>(body.GetBuffer().AsSpan(0, (int)body.Length), Options)
                ?? throw Refused("Expected an object, not null.");
        }
        catch (JsonException ex)
        {
            throw Refused(Describe(ex));
        }
    }

    // The text of the exception ends with the position, and may name an internal type.
    private static string Describe(JsonException exception)
    {
        var place = exception.Path is { Length: > 2 } path ? $" at {path[2..]}" : "";
        return exception.Message.StartsWith("The JSON property '", StringComparison.Ordinal)
            ? $"{exception.Message.Split('\'')[1]}: there is no such property."
            : $"The body does not fit{place}, line {exception.LineNumber + 1}.";
    }

    private static EsbException Refused(string message, int? status = null) =>
        new("ESB-API-BODY", message, FaultKind.Malformed) { Status = status };

    private static JsonSerializerOptions MakeOptions()
    {
        var options = new JsonSerializerOptions
        {
            UnmappedMemberHandling = JsonUnmappedMemberHandling.Disallow,
            AllowDuplicateProperties = false,
        };
        ManagementServer.Configure(options);
        return options;
    }
}
