using System.Security.Cryptography;
using Esb.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;

namespace Memo;

/// <summary>How the digest is made.</summary>
public enum HashAlgorithm
{
    Sha256,
    Sha512,
}

/// <summary>Settings of the step <c>hash</c>.</summary>
public sealed record HashConfig : SettingsRecord
{
    [Setting("The property that gets the digest, in hexadecimal digits.", Main = true)]
    public required string Property { get; init; }

    [Setting("How it is made.")]
    public HashAlgorithm Algorithm { get; init; } = HashAlgorithm.Sha256;
}

/// <summary>The step <c>hash</c>. Its delegate serves all messages at once and keeps nothing of them.</summary>
public sealed class HashStep(LimitsConfig limits) : StepFactory<HashConfig>
{
    public override string Kind => "hash";

    protected override StepModel Compile(HashConfig settings, StepConfig step, IStepCompiler compiler)
    {
        return new StepModel(step, $"hash({settings.Property})") { Bind = _ => RunAsync };

        async ValueTask RunAsync(MessageContext context, CancellationToken cancellationToken)
        {
            var body = await context.Message.Body.BufferAsync(limits.MaxBodySize.Bytes, cancellationToken);
            var digest = settings.Algorithm == HashAlgorithm.Sha512 ? SHA512.HashData(body.Span) : SHA256.HashData(body.Span);
            context.SetProperty(settings.Property, Convert.ToHexStringLower(digest));
        }
    }
}
