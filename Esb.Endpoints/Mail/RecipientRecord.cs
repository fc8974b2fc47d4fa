using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Esb.Core.Errors;
using Esb.Core.Storage;

namespace Esb.Endpoints.Mail;

/// <summary>The durable record of a mail that the server took for some recipients only: those that have it or were refused for good are not
/// tried again. Addresses are stored as hashes. Used by one caller at a time.</summary>
internal sealed class RecipientRecord(string endpoint, Guid messageId, IEndpointMarks marks)
{
    private static readonly TimeSpan Kept = TimeSpan.FromDays(7);

    private readonly Dictionary<string, int> _decided = []; // by hash: 0 if sent, otherwise the refusing status

    private string Name => $"mail {messageId:N}";

    /// <summary>The statuses of recipients that were refused for good.</summary>
    public IEnumerable<int> Refusals => _decided.Values.Where(status => status != 0);

    /// <summary>Reads what earlier attempts recorded.</summary>
    /// <exception cref="EsbException">The store is unreachable.</exception>
    public async Task ReadAsync(CancellationToken cancellationToken)
    {
        if (await marks.FindAsync(endpoint, Name, cancellationToken) is not { } stored)
            return;
        foreach (var entry in stored.Split(' ', StringSplitOptions.RemoveEmptyEntries))
        {
            var at = entry.IndexOf('=');
            _decided[entry[..at]] = int.Parse(entry.AsSpan(at + 1), CultureInfo.InvariantCulture);
        }
    }

    /// <summary>True if the recipient has the mail, or was refused for good.</summary>
    public bool IsDecided(string address) => _decided.ContainsKey(Hash(address));

    /// <summary>Notes that the server has taken the mail for a recipient.</summary>
    public void NoteSent(string address) => _decided[Hash(address)] = 0;

    /// <summary>Notes that the server has refused a recipient for good.</summary>
    public void NoteRefused(string address, int status) => _decided[Hash(address)] = status;

    /// <summary>Stores the record.</summary>
    /// <exception cref="EsbException">The store is unreachable.</exception>
    public Task KeepAsync(CancellationToken cancellationToken) =>
        marks.KeepAsync(
            endpoint,
            Name,
            string.Join(' ', _decided.Select(entry => string.Create(CultureInfo.InvariantCulture, $"{entry.Key}={entry.Value}"))),
            Kept,
            cancellationToken
        );

    private static string Hash(string address) =>
        Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(address.ToLowerInvariant())).AsSpan(0, 12));
}
