using System.Collections.Frozen;
using Esb.Core.Parties;
using Microsoft.AspNetCore.Http;

namespace Esb.Endpoints.Http.Access;

/// <summary>Identifies callers by a key in a header.</summary>
internal sealed class ApiKeyCheck(string header, FrozenDictionary<SecretDigest, Party> keys, SecretDigests digests) : ICredentialCheck
{
    public string Challenge => "ApiKey";

    public ValueTask<Verdict> IdentifyAsync(HttpContext context) => new(Identify(context.Request));

    private Verdict Identify(HttpRequest request)
    {
        var values = request.Headers[header];
        if (values.Count == 0)
            return Verdict.Refused(Denial.Missing);
        if (values.Count > 1 || values[0] is not { Length: > 0 } key)
            return Verdict.Refused(Denial.Malformed);
        var digest = digests.Of(key);
        // the digest of every overlong key
        return digest == default ? Verdict.Refused(Denial.Unknown) : Verdict.Of(keys.GetValueOrDefault(digest));
    }
}
