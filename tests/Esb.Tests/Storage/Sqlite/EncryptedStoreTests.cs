using System.Text;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Storage.Encryption;
using Microsoft.Data.Sqlite;

namespace Esb.Tests.Storage.Sqlite;

[CancelAfter(60_000)]
public sealed class EncryptedStoreTests
{
    private const string Secret = "card 4111 1111 1111 1111";

    private static readonly DateTimeOffset Now = new(2026, 3, 1, 12, 0, 0, TimeSpan.Zero);
    private static readonly EncryptionKeyConfig Old = BodyCipherTests.SomeKey("2025");
    private static readonly EncryptionKeyConfig New = BodyCipherTests.SomeKey("2026");

    [Test]
    public async Task Nothing_in_the_folder_shows_a_body(CancellationToken cancellationToken)
    {
        await using var embedded = new EmbeddedStore { Keys = [New] };
        var store = await embedded.OpenAsync(cancellationToken);
        var (letter, parked) = (Letter(), Message());
        var owner = await store.Parking.TakeLaneAsync("orders-db", 0, cancellationToken);
        var key = new IdempotencyKey("orders", "shop", "k-1");

        await store.DeadLetters.AddAsync(letter, cancellationToken);
        await store.Parking.ParkAsync(owner, new ParkedMessage(parked, Now, [], DueAt: null), cancellationToken);
        var job = await store.ReplayJobs.CreateAsync(Job(letter), cancellationToken);
        var claim = (KeyClaim.Granted)await store.IdempotencyKeys.ClaimAsync(key, new byte[32], cancellationToken);
        await store.IdempotencyKeys.CompleteAsync(
            claim,
            new RecordedAnswer(200, "text/plain", new Dictionary<string, string>(), Encoding.UTF8.GetBytes(Secret), IsDurable: true),
            cancellationToken
        );

        var found = await store.DeadLetters.GetAsync(letter.Id, cancellationToken);
        Assert.That(found!.Letter.Message.Body.ReadText(), Is.EqualTo(Secret));
        Assert.That(found.Summary.BodyBytes, Is.EqualTo(Secret.Length));
        Assert.That(
            (await store.Parking.MessagesAsync("orders-db", "A-1", 0, 10, cancellationToken)).Single().Message.Body.ReadText(),
            Is.EqualTo(Secret)
        );
        Assert.That(
            Encoding.UTF8.GetString((await store.ReplayJobs.GetAsync(job!.Id, cancellationToken))!.Request.Edit!.Body!.Value.Span),
            Is.EqualTo(Secret)
        );
        var answered = (KeyClaim.Answered)await store.IdempotencyKeys.ClaimAsync(key, new byte[32], cancellationToken);
        Assert.That(Encoding.UTF8.GetString(answered.Answer.Body!.Value.Span), Is.EqualTo(Secret));
        await store.DisposeAsync();
        Assert.That(FilesWith(embedded.Config.Folder, Secret), Is.Empty);
        Assert.That(FilesWith(embedded.Config.Folder, Convert.ToBase64String(Encoding.UTF8.GetBytes(Secret))[..^4]), Is.Empty);
    }

    [Test]
    public async Task Bodies_without_a_key_or_of_an_earlier_one_are_encrypted_anew_and_those_of_a_lost_key_counted(
        CancellationToken cancellationToken
    )
    {
        await using var embedded = new EmbeddedStore();
        var (plain, old, lost) = (Letter(), Letter(), Letter());
        await (await embedded.OpenAsync(cancellationToken)).DeadLetters.AddAsync(plain, cancellationToken);
        embedded.Keys = [Old];
        var letters = (await embedded.ReopenAsync(cancellationToken)).DeadLetters;
        await letters.AddAsync(old, cancellationToken);
        var edit = new LetterEdit(Guid.NewGuid(), "edited"u8.ToArray(), null, TimeProvider.System.GetUtcNow(), "ada", null);
        await letters.EditAsync(old.Id, edit, LetterEdit.DigestOf(old.Message.Body.Bytes), cancellationToken);
        embedded.Keys = [BodyCipherTests.SomeKey("lost")];
        await (await embedded.ReopenAsync(cancellationToken)).DeadLetters.AddAsync(lost, cancellationToken);
        embedded.Keys = [New, Old];
        var store = await embedded.ReopenAsync(cancellationToken);

        var first = await store.Encryption.EncryptAsync(after: null, cancellationToken);
        var second = await store.Encryption.EncryptAsync(first.Next, cancellationToken);
        var third = await store.Encryption.EncryptAsync(second.Next, cancellationToken);
        var edits = await store.Encryption.EncryptAsync(third.Next, cancellationToken);

        Assert.That(first, Is.EqualTo(new EncryptedPart(2, 1, first.Next)));
        Assert.That(second, Is.EqualTo(new EncryptedPart(0, 0, second.Next)));
        Assert.That(third, Is.EqualTo(new EncryptedPart(0, 0, third.Next)));
        Assert.That(edits, Is.EqualTo(new EncryptedPart(1, 0, null)));
        embedded.Keys = [New];
        store = await embedded.ReopenAsync(cancellationToken);
        foreach (var letter in new[] { plain, old })
            Assert.That(
                (await store.DeadLetters.GetAsync(letter.Id, cancellationToken))!.Letter.Message.Body.ReadText(),
                Is.EqualTo(Secret)
            );
        Assert.That((await store.DeadLetters.GetAsync(old.Id, cancellationToken))!.CurrentBody.ToArray(), Is.EqualTo(edit.Body.ToArray()));
        Assert.That(
            () => store.DeadLetters.GetAsync(lost.Id, cancellationToken),
            Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-STORE-KEY")
        );
    }

    [Test]
    public async Task Letter_without_a_body_is_listed_with_no_bytes([Values] bool isEncrypted, CancellationToken cancellationToken)
    {
        await using var embedded = new EmbeddedStore { Keys = isEncrypted ? [New] : [] };
        var store = await embedded.OpenAsync(cancellationToken);
        var letter = Letter();
        await store.DeadLetters.AddAsync(letter with { Message = letter.Message with { Body = MessageBody.Empty } }, cancellationToken);

        var listed = await store.DeadLetters.FindAsync(new(), cancellationToken).SingleAsync(cancellationToken);

        Assert.That(listed.BodyBytes, Is.Zero);
    }

    [Test]
    public async Task Encrypting_without_keys_is_refused(CancellationToken cancellationToken)
    {
        await using var embedded = new EmbeddedStore();
        var store = await embedded.OpenAsync(cancellationToken);

        Assert.That(
            () => store.Encryption.EncryptAsync(null, cancellationToken),
            Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-STORE-NOKEYS")
        );
    }

    private static EsbMessage Message()
    {
        var id = Guid.CreateVersion7();
        return new EsbMessage
        {
            Id = id,
            ConversationId = id,
            CreatedAt = Now,
            Subject = "orders.accepted",
            Key = "A-1",
            Body = MessageBody.FromText(Secret),
        };
    }

    private static DeadLetter Letter() => new(Message(), "orders-db", "ESB-SQL-TIMEOUT", "No answer.", null, 3, Now, Now);

    private static ReplayJob Job(DeadLetter letter) =>
        new()
        {
            Id = Guid.CreateVersion7(),
            Command = "command",
            Fingerprint = "f",
            Request = new ReplayRequest
            {
                Letters = new() { Ids = [letter.Id] },
                Edit = new ReplayEdit { Body = Encoding.UTF8.GetBytes(Secret) },
            },
            CreatedAt = Now,
            CreatedBy = "ada",
        };

    private static IEnumerable<string> FilesWith(string folder, string text)
    {
        SqliteConnection.ClearAllPools();
        var sought = Encoding.UTF8.GetBytes(text);
        return Directory
            .EnumerateFiles(folder, "*", SearchOption.AllDirectories)
            .Where(file => File.ReadAllBytes(file).AsSpan().IndexOf(sought) >= 0)
            .Select(file => Path.GetFileName(file)!);
    }
}
