using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace Esb.Tests.Endpoints.Http.Access;

/// <summary>Tokens made by hand, so that they can be wrong in every way.</summary>
internal static class SomeTokens
{
    /// <summary>The claims of a good token of the party shop.</summary>
    public static JsonObject Claims(DateTimeOffset now) =>
        new()
        {
            ["iss"] = "https://login",
            ["aud"] = "bus",
            ["sub"] = "shop",
            ["exp"] = now.AddMinutes(5).ToUnixTimeSeconds(),
        };

    public static string Make(JsonObject header, JsonObject claims, Func<byte[], byte[]> sign)
    {
        var content = $"{Encode(JsonSerializer.SerializeToUtf8Bytes(header))}.{Encode(JsonSerializer.SerializeToUtf8Bytes(claims))}";
        return $"{content}.{Encode(sign(Encoding.ASCII.GetBytes(content)))}";
    }

    public static string Hs256(JsonObject claims, byte[] secret, string algorithm = "HS256") =>
        Make(new JsonObject { ["alg"] = algorithm, ["typ"] = "JWT" }, claims, content => HMACSHA256.HashData(secret, content));

    public static string Rs256(JsonObject claims, RSA key, string? id = null) =>
        Make(Header("RS256", id), claims, content => key.SignData(content, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1));

    public static string Es256(JsonObject claims, ECDsa key, string? id = null) =>
        Make(Header("ES256", id), claims, content => key.SignData(content, HashAlgorithmName.SHA256));

    public static JsonObject KeyOf(RSA key, string id)
    {
        var parameters = key.ExportParameters(includePrivateParameters: false);
        return new JsonObject
        {
            ["kty"] = "RSA",
            ["kid"] = id,
            ["use"] = "sig",
            ["n"] = Encode(parameters.Modulus!),
            ["e"] = Encode(parameters.Exponent!),
        };
    }

    public static JsonObject KeyOf(ECDsa key, string id)
    {
        var point = key.ExportParameters(includePrivateParameters: false).Q;
        return new JsonObject
        {
            ["kty"] = "EC",
            ["kid"] = id,
            ["crv"] = "P-256",
            ["x"] = Encode(point.X!),
            ["y"] = Encode(point.Y!),
        };
    }

    public static string KeySet(params JsonObject[] keys) => new JsonObject { ["keys"] = new JsonArray([.. keys]) }.ToJsonString();

    private static JsonObject Header(string algorithm, string? id)
    {
        var header = new JsonObject { ["alg"] = algorithm, ["typ"] = "JWT" };
        if (id is not null)
            header["kid"] = id;
        return header;
    }

    private static string Encode(byte[] bytes) => Convert.ToBase64String(bytes).TrimEnd('=').Replace('+', '-').Replace('/', '_');
}
