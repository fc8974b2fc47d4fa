using System.CommandLine;
using System.CommandLine.Parsing;
using System.Globalization;
using System.Net.Http.Headers;
using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Messages;

namespace Esb.Host.Commands;

/// <summary>Checks of option values beyond their type.</summary>
internal static class OptionChecks
{
    public static Option<T> Within<T>(this Option<T> option, int minimum, int maximum)
    {
        option.Validators.Add(result =>
        {
            // The parser reports values that are not numbers.
            if (
                result.Tokens is [{ Value: var text }]
                && int.TryParse(text, CultureInfo.InvariantCulture, out var number)
                && (number < minimum || number > maximum)
            )
                result.AddError($"{option.Name}: expected a number from {minimum} to {maximum}");
        });
        return option;
    }

    public static Option<string> AsDuration(this Option<string> option)
    {
        option.Validators.Add(result =>
        {
            if (!Duration.TryParse(result.GetValueOrDefault<string>()!, out _))
                result.AddError($"{option.Name}: expected a duration such as 10ms or 1s");
        });
        return option;
    }

    public static Option<DateOnly?> AsDay(this Option<DateOnly?> option)
    {
        option.HelpName = "yyyy-mm-dd";
        option.CustomParser = result =>
        {
            if (
                result.Tokens is [{ Value: var text }]
                && DateOnly.TryParseExact(text, "yyyy-MM-dd", CultureInfo.InvariantCulture, DateTimeStyles.None, out var day)
            )
                return day;
            result.AddError($"{option.Name}: expected a day such as 2026-03-01");
            return null;
        };
        return option;
    }

    /// <summary>The value is a time; UTC if it has no offset.</summary>
    public static Option<DateTimeOffset?> AsTime(this Option<DateTimeOffset?> option)
    {
        option.HelpName = "time";
        option.CustomParser = result =>
        {
            if (result.Tokens is [{ Value: var text }] && UniversalTime.TryParse(text) is { } time)
                return time;
            result.AddError($"{option.Name}: {UniversalTime.Expected}");
            return null;
        };
        return option;
    }

    /// <summary>The value is an address without a password.</summary>
    public static Option<string> AsUrl(this Option<string> option)
    {
        option.Validators.Add(result =>
        {
            if (!Uri.TryCreate(result.GetValueOrDefault<string>(), UriKind.Absolute, out var url) || url.Scheme is not ("http" or "https"))
                result.AddError($"{option.Name}: expected an address such as http://127.0.0.1:8081");
            else if (url.UserInfo.Length > 0)
                result.AddError($"{option.Name}: {SecretOption.Warning}");
        });
        return option;
    }

    /// <summary>The value is a media type.</summary>
    public static Option<string?> AsContentType(this Option<string?> option)
    {
        option.Validators.Add(result =>
        {
            if (!MediaTypeHeaderValue.TryParse(result.GetValueOrDefault<string>(), out _))
                result.AddError($"{option.Name}: expected a media type such as application/xml");
        });
        return option;
    }

    /// <summary>The value is sent in a header: one line of at most 200 characters.</summary>
    public static Option<string?> AsLine(this Option<string?> option)
    {
        option.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<string>() is not { Length: > 0 and <= 200 } text || !HeaderRules.IsValue(text))
                result.AddError($"{option.Name}: expected one line of 1 to 200 characters");
        });
        return option;
    }

    /// <summary>The values are pairs with distinct names.</summary>
    public static Option<string[]> AsPairs(this Option<string[]> option)
    {
        option.Validators.Add(result =>
        {
            if (result.Tokens.Any(token => token.Value.IndexOf('=') < 1))
                result.AddError($"{option.Name}: expected NAME=VALUE");
            else if (result.Tokens.GroupBy(token => token.Value.Split('=')[0]).Any(name => name.Count() > 1))
                result.AddError($"{option.Name}: expected each name once");
        });
        return option;
    }

    /// <summary>The value is a name in the notation of the API.</summary>
    public static Option<T?> AsName<T>(this Option<T?> option)
        where T : struct, Enum
    {
        var names = Enum.GetValues<T>().ToDictionary(value => CommandJson.NameOf(value));
        option.HelpName = option.Name.TrimStart('-'); // the framework would list the names of the code, in one word
        option.Description = $"{option.Description} One of {string.Join(", ", names.Keys)}.";
        option.CustomParser = result =>
        {
            if (names.TryGetValue(result.Tokens[0].Value, out var value))
                return value;
            result.AddError(
                $"{option.Name}: expected one of {string.Join(", ", names.Keys)}{NearestName.Hint(result.Tokens[0].Value, names.Keys)}"
            );
            return null;
        };
        return option;
    }

    /// <summary>The value is a message id.</summary>
    public static Argument<Guid> AsMessageId(this Argument<Guid> argument)
    {
        argument.CustomParser = result => ReadMessageId(result) ?? default;
        return argument;
    }

    /// <summary>The value is a message id, or absent.</summary>
    public static Argument<Guid?> AsOptionalMessageId(this Argument<Guid?> argument)
    {
        argument.CustomParser = result => result.Tokens.Count == 0 ? null : ReadMessageId(result);
        return argument;
    }

    private static Guid? ReadMessageId(ArgumentResult result)
    {
        var text = result.Tokens.Count > 0 ? result.Tokens[0].Value : "";
        if (Guid.TryParse(text, out var id))
            return id;
        result.AddError($"'{text}' is not a message id: expected a UUID such as 01931b5e-7a2c-7c3d-9e4f-0123456789ab");
        return null;
    }
}
