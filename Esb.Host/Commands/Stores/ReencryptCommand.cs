using System.CommandLine;
using Esb.Core.Storage;

namespace Esb.Host.Commands.Stores;

/// <summary><c>esb store reencrypt</c></summary>
internal sealed class ReencryptCommand : Command
{
    private readonly HostOptions _host;

    public ReencryptCommand(CommandContext context)
        : base("reencrypt", "Encrypts the bodies of dead letters, parked and held messages with the first of 'store.encryptionKeys'.")
    {
        _host = new HostOptions(this);
        SetAction((result, cancellationToken) => EncryptAsync(result, context, cancellationToken));
    }

    private async Task<int> EncryptAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        var (encrypted, unreadable) = (0L, 0L);
        string? next = null;
        do
        {
            var query = next is null ? "" : $"?after={Uri.EscapeDataString(next)}";
            var part = await client.PostAsync<EncryptedPart>($"api/store/encryption{query}", new { }, cancellationToken);
            (encrypted, unreadable, next) = (encrypted + part.Encrypted, unreadable + part.Unreadable, part.Next);
        } while (next is not null);

        context.Output.WriteLine($"{encrypted} bodies encrypted with the first key");
        if (unreadable == 0)
            return ExitCode.Done;
        context.Output.WriteLine($"{unreadable} bodies could not be decrypted: their key is not configured, or they were damaged");
        return ExitCode.VerificationFailed;
    }
}
