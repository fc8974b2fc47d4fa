using System.Security.Cryptography;
using Esb.Core.Errors;
using Esb.Storage.Encryption;

namespace Esb.Tests.Storage;

public sealed class BodyCipherTests
{
    private static readonly EncryptionKeyConfig Old = SomeKey("2025");
    private static readonly EncryptionKeyConfig New = SomeKey("2026");
    private static readonly byte[] Order = "<order id='A-1001'/>"u8.ToArray();
    private static readonly Guid Id = Guid.CreateVersion7();

    [Test]
    public void Encrypted_body_shows_nothing_of_it_and_opens_again()
    {
        var cipher = new BodyCipher([New]);

        var stored = cipher.Seal(Order, Id);

        Assert.That(stored.Span.IndexOf("A-1001"u8), Is.Negative);
        Assert.That(stored, Has.Length.EqualTo(Order.Length + BodyCipher.Overhead));
        Assert.That(cipher.Open(stored, Id).ToArray(), Is.EqualTo(Order));
    }

    [Test]
    public void Same_body_is_encrypted_otherwise_each_time()
    {
        var cipher = new BodyCipher([New]);

        var stored = Enumerable.Range(0, 100).Select(_ => Convert.ToHexString(cipher.Seal(Order, Id).Span)).ToHashSet();

        Assert.That(stored, Has.Count.EqualTo(100));
    }

    [Test]
    public void All_keys_decrypt_and_the_first_encrypts()
    {
        var before = new BodyCipher([Old]).Seal(Order, Id);
        var rotated = new BodyCipher([New, Old]);

        Assert.That(rotated.Open(before, Id).ToArray(), Is.EqualTo(Order));
        Assert.That(new BodyCipher([New]).Open(rotated.Seal(Order, Id), Id).ToArray(), Is.EqualTo(Order));
    }

    [Test]
    public void Body_stored_before_there_were_keys_opens_as_it_is() =>
        Assert.That(new BodyCipher([New]).Open(BodyCipher.None.Seal(Order, Id), Id).ToArray(), Is.EqualTo(Order));

    [Test]
    public void Body_that_looks_encrypted_by_itself_comes_back_as_it_was([Values] bool withKeys)
    {
        var cipher = withKeys ? new BodyCipher([New]) : BodyCipher.None;
        var hostile = new BodyCipher([Old]).Seal(Order, Id);

        Assert.That(cipher.Open(cipher.Seal(hostile, Id), Id).ToArray(), Is.EqualTo(hostile.ToArray()));
    }

    [Test]
    public void Missing_key_is_named()
    {
        var stored = new BodyCipher([Old]).Seal(Order, Id);

        var error = Assert.Throws<EsbException>(() => new BodyCipher([New]).Open(stored, Id))!;

        Assert.That(error.Code, Is.EqualTo("ESB-STORE-KEY"));
        Assert.That(error.Message, Does.Contain("'2025'").And.Contain(Id.ToString()));
    }

    [Test]
    public void Body_of_another_message_and_changed_bytes_are_damage()
    {
        var cipher = new BodyCipher([New]);
        var stored = cipher.Seal(Order, Id).ToArray();

        Assert.That(
            () => cipher.Open(stored, Guid.CreateVersion7()),
            Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-STORE-DAMAGED")
        );
        for (var place = 24; place < stored.Length; place++)
        {
            stored[place] ^= 1;
            Assert.That(
                () => cipher.Open(stored, Id),
                Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-STORE-DAMAGED"),
                $"byte {place}"
            );
            stored[place] ^= 1;
        }
    }

    [Test]
    public void Cut_body_is_damage()
    {
        var cipher = new BodyCipher([New]);
        var stored = cipher.Seal(Order, Id);

        for (var length = 8; length < BodyCipher.Overhead; length++)
            Assert.That(
                () => cipher.Open(stored[..length], Id),
                Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-STORE-DAMAGED"),
                $"{length} bytes"
            );
    }

    internal static EncryptionKeyConfig SomeKey(string id) =>
        new() { Id = id, Key = Convert.ToBase64String(RandomNumberGenerator.GetBytes(32)) };
}
