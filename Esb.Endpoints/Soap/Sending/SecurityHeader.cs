using System.Globalization;
using System.Security;
using System.Security.Cryptography;
using System.Text;
using Esb.Endpoints.Soap.Envelopes;
using Esb.Endpoints.Soap.Security;

namespace Esb.Endpoints.Soap.Sending;

/// <summary>Writes the header of WS-Security with a user name token, a new one for each request. Thread-safe.</summary>
internal sealed class SecurityHeader(UsernameTokenConfig config, TimeProvider time)
{
    private const int NonceBytes = 16;

    public byte[] Write()
    {
        var nonce = RandomNumberGenerator.GetBytes(NonceBytes);
        var created = time.GetUtcNow().ToString("yyyy-MM-dd'T'HH:mm:ss.fff'Z'", CultureInfo.InvariantCulture);
        var (type, password) = config.Digest
            ? (WssNames.PasswordDigest, Convert.ToBase64String(PasswordDigest.Of(nonce, created, config.Password)))
            : (WssNames.PasswordText, SecurityElement.Escape(config.Password));
        return Encoding.UTF8.GetBytes(
            $"""<wsse:Security xmlns:wsse="{WssNames.Wsse}" xmlns:wsu="{WssNames.Wsu}" {EnvelopeWriter.Prefix}:mustUnderstand="1">"""
                + $"""<wsse:UsernameToken><wsse:Username>{SecurityElement.Escape(config.UserName)}</wsse:Username>"""
                + $"""<wsse:Password Type="{type}">{password}</wsse:Password>"""
                + $"""<wsse:Nonce EncodingType="{WssNames.Base64}">{Convert.ToBase64String(nonce)}</wsse:Nonce>"""
                + $"""<wsu:Created>{created}</wsu:Created>"""
                + "</wsse:UsernameToken></wsse:Security>"
        );
    }
}
