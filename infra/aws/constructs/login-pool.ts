import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  AccountRecovery,
  CfnManagedLoginBranding,
  ManagedLoginVersion,
  OAuthScope,
  UserPool,
} from 'aws-cdk-lib/aws-cognito';
import type { Construct } from 'constructs';
import type { OpenIdSettings } from '../../../functions/shared/settings/service.ts';
import type { Settings } from '../settings.ts';
import { acknowledge } from './acknowledge.ts';

interface LoginPoolProps {
  /** Prefix of the host name of the login pages. */
  readonly domain: string;
  readonly signUp: NonNullable<Settings['site']>['signUp'];
  /** URL of the site. */
  readonly url: string;
}

/** A Cognito user pool with managed login for signing in to the site. The pool and its users survive the stack. */
export class LoginPool extends UserPool {
  /** Settings of the site for this provider. */
  readonly settings: OpenIdSettings;

  constructor(scope: Construct, id: string, { domain, signUp, url }: LoginPoolProps) {
    super(scope, id, {
      signInAliases: { email: true },
      // An email address joins an account only if Cognito has verified it.
      autoVerify: { email: true },
      keepOriginal: { email: true },
      selfSignUpEnabled: signUp === 'open',
      accountRecovery: AccountRecovery.EMAIL_ONLY,
      passwordPolicy: {
        minLength: 12,
        requireLowercase: true,
        requireUppercase: true,
        requireDigits: true,
        requireSymbols: true,
      },
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    });
    this.addDomain('Domain', {
      cognitoDomain: { domainPrefix: domain },
      managedLoginVersion: ManagedLoginVersion.NEWER_MANAGED_LOGIN,
    });
    // No secret is needed: PKCE binds the code to the sign-in, so no secret has to be passed to the function.
    const client = this.addClient('Client', {
      generateSecret: false,
      preventUserExistenceErrors: true,
      authFlows: {},
      oAuth: {
        flows: { authorizationCodeGrant: true },
        scopes: [OAuthScope.OPENID, OAuthScope.EMAIL],
        callbackUrls: [`${url}/account/openid/callback`],
      },
    });
    // The pages of version 2 are shown only for clients with a style.
    new CfnManagedLoginBranding(this, 'Style', {
      userPoolId: this.userPoolId,
      clientId: client.userPoolClientId,
      useCognitoProvidedValues: true,
    });
    const { region, urlSuffix } = Stack.of(this);
    this.settings = {
      issuer: `https://cognito-idp.${region}.${urlSuffix}/${this.userPoolId}`,
      clientId: client.userPoolClientId,
      name: 'email and password',
    };
    acknowledge(this, {
      COG2: 'A second factor is a setting of the pool; the site protects no more than API keys.',
      COG3: 'Threat protection has a monthly price for each person.',
      COG8: 'Threat protection has a monthly price for each person.',
    });
  }
}
