using System.Security.Cryptography.X509Certificates;
using Esb.Core.Certificates;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Messages;
using Esb.Core.Parties;
using Org.BouncyCastle.Bcpg.OpenPgp;

namespace Esb.Content.Codecs.Secure;

/// <summary>Formats of signed and encrypted bodies.</summary>
public enum SecureFormat
{
    /// <summary>S/MIME (RFC 8551).</summary>
    Smime,

    /// <summary>OpenPGP (RFC 9580).</summary>
    Pgp,
}

/// <summary>Demands on a decoder.</summary>
/// <param name="Key">The secret key in PEM, with its certificate, or armored for OpenPGP; null if nothing encrypted is expected.</param>
/// <param name="Passphrase">Opens the key.</param>
/// <param name="Trust">The file of trusted authorities, or of trusted keys of OpenPGP; null if no signature is looked at.</param>
/// <param name="Require">How bodies have to be secured; null for all that key and trust allow.</param>
/// <param name="MaxSize">The largest decoded body.</param>
/// <param name="MaxRatio">The most decoded bytes for each encoded byte.</param>
/// <param name="MaxEntries">The most parts.</param>
public sealed record SecureDecoding(
    string? Key,
    string? Passphrase,
    string? Trust,
    SecurityDemand? Require,
    ByteSize MaxSize,
    int MaxRatio,
    int MaxEntries
);

/// <summary>Demands on an encoder.</summary>
/// <param name="Sign">The signer's secret key in PEM, with its certificate, or armored for OpenPGP; null if bodies are not signed.</param>
/// <param name="Passphrase">Opens the key.</param>
/// <param name="Encrypt">Files with the certificate or key of each recipient; none if bodies are not encrypted.</param>
/// <param name="HasHeaders">True if MIME headers are part of the body.</param>
public sealed record SecureEncoding(string? Sign, string? Passphrase, IReadOnlyList<string> Encrypt, bool HasHeaders);

/// <summary>Makes encoders and decoders of signed and encrypted bodies; reads the files of their keys. Used while a configuration is
/// compiled.</summary>
/// <param name="parties">The parties, whose certificates name signers.</param>
/// <param name="time">The clock.</param>
public sealed class SecureCodecs(IReadOnlyDictionary<string, PartyConfig> parties, TimeProvider time)
{
    private const string Code = "ESB-CFG-CERT";

    /// <summary>A decoder; null after an error. Errors name the properties <c>key</c> and <c>trust</c>.</summary>
    public Func<EsbMessage, DecodedMessage>? Decoder(
        SecureFormat format,
        SecureDecoding given,
        SettingsRecord settings,
        ConfigErrors errors
    )
    {
        if (!settings.IsSound("key", "passphrase", "trust", "require"))
            return null;
        if (given is { Key: null, Trust: null })
        {
            errors.Add("ESB-CFG-REQUIRED", settings, "trust", "expected trust, to verify signatures, or key, to decrypt, or both");
            return null;
        }

        var demand =
            given.Require
            ?? (
                given.Key is null ? SecurityDemand.Signed
                : given.Trust is null ? SecurityDemand.Encrypted
                : SecurityDemand.Both
            );
        if (given.Trust is null && demand != SecurityDemand.Encrypted)
            return Missing(errors, settings, "trust", "signatures are required");
        if (given.Key is null && demand != SecurityDemand.Signed)
            return Missing(errors, settings, "key", "encryption is required");
        ISecureDecoder? decoder =
            format == SecureFormat.Smime ? Smime(given, demand, settings, errors) : Pgp(given, demand, settings, errors);
        var limits = new CodecLimits(given.MaxSize.Bytes, given.MaxRatio, given.MaxEntries);
        return decoder is null ? null : message => decoder.Decode(message, limits);
    }

    /// <summary>An encoder; null after an error. Errors name the properties <c>sign</c> and <c>encrypt</c>.</summary>
    public Func<EsbMessage, EsbMessage>? Encoder(SecureFormat format, SecureEncoding given, SettingsRecord settings, ConfigErrors errors)
    {
        if (!settings.IsSound("sign", "passphrase", "encrypt"))
            return null;
        if (given is { Sign: null, Encrypt.Count: 0 })
        {
            errors.Add("ESB-CFG-REQUIRED", settings, "sign", "expected sign or encrypt, or both");
            return null;
        }

        ISecureEncoder? encoder = format == SecureFormat.Smime ? Smime(given, settings, errors) : Pgp(given, settings, errors);
        return encoder is null ? null : encoder.Encode;
    }

    private SmimeDecoder? Smime(SecureDecoding given, SecurityDemand demand, SettingsRecord settings, ConfigErrors errors)
    {
        var key = given.Key is { } pem
            ? Try(errors, settings, "key", () => CertificateFiles.FromPem(pem, given.Passphrase, validAt: null))
            : null;
        var trust = given.Trust is { } path
            ? Try(
                errors,
                settings,
                "trust",
                () => new SignerTrust(CertificateFiles.LoadAuthorities(path, time.GetUtcNow()), parties.Values, time)
            )
            : null;
        return (given.Key is null || key is not null) && (given.Trust is null || trust is not null)
            ? new SmimeDecoder(key, trust, demand)
            : null;
    }

    private PgpDecoder? Pgp(SecureDecoding given, SecurityDemand demand, SettingsRecord settings, ConfigErrors errors)
    {
        var keys = given.Key is { } armored ? Try(errors, settings, "key", () => PgpSecretKeys.Read(armored, given.Passphrase)) : null;
        var trusted = given.Trust is { } path ? Try(errors, settings, "trust", () => PgpKeys.Public(path)) : null;
        return (given.Key is null || keys is not null) && (given.Trust is null || trusted is not null)
            ? new PgpDecoder(keys, trusted, demand, time)
            : null;
    }

    private SmimeEncoder? Smime(SecureEncoding given, SettingsRecord settings, ConfigErrors errors)
    {
        var signer = given.Sign is { } pem
            ? Try(errors, settings, "sign", () => CertificateFiles.FromPem(pem, given.Passphrase, time.GetUtcNow()))
            : null;
        var recipients = new X509Certificate2Collection();
        foreach (var path in given.Encrypt)
        {
            if (Try(errors, settings, "encrypt", () => CertificateFiles.LoadAuthorities(path, time.GetUtcNow())) is not { } found)
                return null;
            recipients.Add(found[0]);
        }

        return given.Sign is null || signer is not null ? new SmimeEncoder(signer, recipients, given.HasHeaders) : null;
    }

    private PgpEncoder? Pgp(SecureEncoding given, SettingsRecord settings, ConfigErrors errors)
    {
        var signer = given.Sign is { } armored
            ? Try(errors, settings, "sign", () => PgpSecretKeys.Read(armored, given.Passphrase).OpenSigner())
            : null;
        var recipients = new List<PgpPublicKey>();
        foreach (var path in given.Encrypt)
        {
            if (Try(errors, settings, "encrypt", () => PgpKeys.ForEncryption(PgpKeys.Public(path), time.GetUtcNow())) is not { } found)
                return null;
            recipients.Add(found);
        }

        return given.Sign is null || signer is not null ? new PgpEncoder(signer, recipients) : null;
    }

    private static Func<EsbMessage, DecodedMessage>? Missing(ConfigErrors errors, SettingsRecord settings, string property, string why)
    {
        errors.Add("ESB-CFG-REQUIRED", settings, property, $"is needed: {why}");
        return null;
    }

    private static T? Try<T>(ConfigErrors errors, SettingsRecord settings, string property, Func<T> load)
        where T : class
    {
        try
        {
            return load();
        }
        catch (CertificateException ex)
        {
            errors.Add(Code, settings, property, ex.Message);
            return null;
        }
    }
}
