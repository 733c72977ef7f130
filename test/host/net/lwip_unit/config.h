/* lwIP's tests include it; there is nothing to configure. */
